internal import ArbiterTestKit
internal import Foundation
internal import Glibc

/// Takes the lock of a scene repeatedly, and each time changes a file that only the holder may change.
struct Contender {
    let client: WireClient
    let name: String
    let scene: String
    let file: String
    /// Reports a violation of what the lock promises.
    let tell: (String) -> Void

    private static let wait = 60

    /// - Throws: `WireError`, and what file access throws.
    func contend(count: Int) throws {
        for _ in 0..<count {
            let request: JSONValue = [
                "scene": .string(scene), "client": .string(name), "wait": .number(Double(Self.wait)),
            ]
            let granted = try client.request(
                "POST", "/transitions/serialize", body: request.text, within: .seconds(2 * Self.wait))
            guard granted.status == 201, let fence = granted["fence"].integer else {
                tell("not granted: \(granted)")
                continue
            }
            try useFile(fence: fence)
            let end: JSONValue = ["id": granted["id"], "token": granted["token"]]
            let ended = try client.request("POST", "/transitions/end", body: end.text)
            if ended.status != 200 { tell("not ended: \(ended)") }
        }
    }

    /// Changes the file in a way that would go wrong, and be noticed, if two processes did it at once.
    private func useFile(fence: Int) throws {
        let lock = file + ".lock"
        let descriptor = unsafe open(lock, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            tell("violation: \(name) with fence \(fence) is not alone")
            return
        }
        close(descriptor)
        let lines = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        let previous = lines.split(separator: "\n").last?.split(separator: " ").last.flatMap { Int($0) } ?? 0
        if previous >= fence { tell("violation: \(name) got fence \(fence) after \(previous)") }
        // Written as a whole, not appended, so that a concurrent change would be lost, and that would be noticed.
        try Data((lines + "\(name) \(fence)\n").utf8).write(to: URL(fileURLWithPath: file))
        unsafe unlink(lock)
    }
}
