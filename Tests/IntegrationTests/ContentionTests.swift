internal import ArbiterTestKit
internal import Foundation
internal import Testing

extension Integration {
    /// Six processes, one lock, and a file that shows violations.
    @Suite struct Contention {
        private static let views = 6
        private static let rounds = 30

        let daemon: DaemonProcess
        let directory: URL

        init() throws {
            daemon = try DaemonProcess()
            directory = FileManager.default.temporaryDirectory.appending(path: "arbiter-\(UUID())")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        }

        @Test func `six processes never touch the file at once, and their fences grow`() throws {
            defer { try? FileManager.default.removeItem(at: directory) }
            let file = directory.appending(path: "shared")
            let views = try (0..<Self.views).map { try ViewProcess("view-\($0)", of: daemon) }
            for view in views { view.contend(for: "shared", count: Self.rounds, file: file.path()) }
            for view in views { #expect(try view.violations(within: .seconds(60)) == []) }

            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            let total = Self.views * Self.rounds
            #expect(lines.count == total)
            let fences = lines.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
            #expect(zip(fences, fences.dropFirst()).allSatisfy(<))
            for view in 0..<Self.views {
                #expect(lines.count { $0.hasPrefix("view-\(view) ") } == Self.rounds)
            }

            // The list is in request order, so fences increase in it.
            let records = try daemon.connect().transitions(in: "shared")
            #expect(records.count == total)
            #expect(records.allSatisfy { $0.ending == "completed" })
            #expect(records.compactMap { $0["fence"].integer } == fences)
        }

        @Test func `a stand-in that is not alone says so`() throws {
            defer { try? FileManager.default.removeItem(at: directory) }
            let file = directory.appending(path: "shared").path()
            let view = try ViewProcess("view", of: daemon)
            try Data("somebody 7\n".utf8).write(to: URL(fileURLWithPath: file))
            view.contend(for: "shared", count: 1, file: file)
            #expect(try view.violations(within: .seconds(20)) == ["violation: view got fence 1 after 7"])

            try Data().write(to: URL(fileURLWithPath: file + ".lock"))
            view.contend(for: "shared", count: 1, file: file)
            #expect(try view.violations(within: .seconds(20)) == ["violation: view with fence 2 is not alone"])
        }
    }
}
