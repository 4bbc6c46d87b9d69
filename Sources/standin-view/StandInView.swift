internal import ArbiterTestKit
internal import Foundation
internal import Glibc

/// A process standing in for a view: it does what it is told on its standard input, and tells on its standard output.
///
/// Arguments: the daemon's port, and the name to go by. Commands, one a line:
/// - `request METHOD PATH [BODY]`, answered with `STATUS BODY`;
/// - `contend SCENE COUNT FILE`, answered with a line for each violation of the lock's promises, and `done`.
@main
struct StandInView {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let port = UInt16(arguments[1]) else {
            FileHandle.standardError.write(Data("usage: standin-view PORT NAME\n".utf8))
            exit(EX_USAGE)
        }
        do {
            let client = try WireClient(port: port)
            while let line = readLine() { try obey(line, client: client, name: arguments[2]) }
        } catch {
            tell("failed \(error)")
            exit(EX_IOERR)
        }
    }

    private static func obey(_ line: String, client: WireClient, name: String) throws {
        let words = line.split(separator: " ", maxSplits: 3).map(String.init)
        switch words.first {
        case "request" where words.count >= 3:
            // Longer than any wait that the daemon allows.
            let answer = try client.request(
                words[1], words[2], body: words.count > 3 ? words[3] : nil, within: .seconds(150))
            tell("\(answer.status) \(answer.text)")
        case "contend" where words.count == 4:
            guard let count = Int(words[2]) else { fallthrough }
            let contender = Contender(client: client, name: name, scene: words[1], file: words[3], tell: tell)
            try contender.contend(count: count)
            tell("done")
        default:
            tell("no such command: \(line)")
        }
    }

    private static func tell(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
