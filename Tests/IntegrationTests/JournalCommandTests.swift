import ArbiterTestKit
import Foundation
import Glibc
import Testing

extension Integration {
    /// `arbiterd journal`, on the journal of a daemon that runs, was killed or has ended.
    @Suite struct JournalCommands {
        private let directory: TemporaryDirectory
        private let daemon: DaemonProcess
        /// All tokens, which must not appear in any output.
        private let secrets: [String]

        init() throws {
            directory = try TemporaryDirectory()
            daemon = try DaemonProcess(["--durability", "power"], in: directory)
            let client = try daemon.connect()
            let held = try client.post(
                "/transitions/start", ["client": "holder"], headers: ["Idempotency-Key: secret-key-0123456789"])
            let ticket = try client.serialize(["client": "ticket"])
            #expect(try client.end(held).status == 200)
            // Without a word of its owner, it would soon end: that is a record too.
            #expect(try client.post("/transitions/renew", ticket.credentials).status == 200)
            secrets = ["secret-key-0123456789"] + [held["token"], ticket["token"]].compactMap(\.string)
        }

        enum Fate: CaseIterable {
            case alive, killed, ended

            /// The records in the journal; a clean stop is one too.
            var records: [String] { ["start", "serialize", "end"] + (self == .ended ? ["stop"] : []) }
        }

        private func meet(_ fate: Fate) throws {
            guard fate != .alive else { return }
            daemon.signal(fate == .killed ? SIGKILL : SIGTERM)
            try daemon.waitForExit()
        }

        private func journal(_ command: String, in path: String? = nil) throws -> (Termination, String, String) {
            let process = try ChildProcess("arbiterd", ["journal", command, "--data", path ?? directory.path])
            let status = try process.waitForExit()
            for secret in secrets {
                #expect(!process.restOfOutput.contains(secret))
                #expect(!process.standardError.contains(secret))
            }
            return (status, process.restOfOutput, process.standardError)
        }

        @Test(arguments: Fate.allCases)
        func `inspect says what the journal holds`(fate: Fate) throws {
            try meet(fate)
            let (status, output, errors) = try journal("inspect")
            #expect(status == .exited(0))
            #expect(errors == "")
            #expect(output.contains(directory.path))
            #expect(output.contains("power"))
            #expect(output.contains("\(fate.records.count) after it"))
            #expect(output.contains(fate == .ended ? "yes" : "no: a daemon writes it, or was killed"))
        }

        @Test(arguments: Fate.allCases)
        func `verify replays all of it`(fate: Fate) throws {
            try meet(fate)
            let (status, output, errors) = try journal("verify")
            #expect(status == .exited(0))
            #expect(errors == "")
            #expect(output.contains("\(fate.records.count) records replayed"))
        }

        @Test(arguments: Fate.allCases)
        func `export gives one line of JSON a record`(fate: Fate) throws {
            try meet(fate)
            let (status, output, errors) = try journal("export")
            #expect(status == .exited(0))
            #expect(errors == "")
            let lines = try output.split(separator: "\n").map { try #require(JSONValue($0.utf8)) }
            #expect(lines.map { $0["sequence"].integer } == Array(1...fate.records.count))
            #expect(lines.map { $0["command"].string } == fate.records)
            #expect(lines[0]["client"] == "holder")
            #expect(lines[2]["id"] == lines[0]["id"])
        }

        @Test func `a journal in which nothing was written yet knows its durability`() throws {
            let new = try TemporaryDirectory()
            let daemon = try DaemonProcess(["--durability", "power"], in: new)
            let (_, output, _) = try journal("inspect", in: new.path)
            #expect(output.contains("durability  power"))
            #expect(output.contains("no: a daemon writes it, or was killed"))
            daemon.signal(SIGTERM)
            try daemon.waitForExit()
            #expect(try journal("inspect", in: new.path).1.contains("closed      yes"))
        }

        @Test func `an option before the subcommand is refused, whatever the environment names`() throws {
            let process = try ChildProcess(
                "arbiterd", ["journal", "--data=/nowhere", "inspect"], environment: ["ARBITERD_DATA": directory.path])
            #expect(try process.waitForExit() == .exited(EX_USAGE))
            #expect(process.restOfOutput == "")
        }

        @Test func `options stand behind the subcommand`() throws {
            let process = try ChildProcess("arbiterd", ["--data", directory.path, "journal", "inspect"])
            #expect(try process.waitForExit() == .exited(EX_USAGE))
            #expect(process.standardError.contains("name the subcommand first"))
        }

        @Test func `the daemon goes on as if nobody had looked`() throws {
            for command in ["inspect", "verify", "export"] { _ = try journal(command) }
            let client = try daemon.connect()
            #expect(try client.start().status == 409)
            #expect(try client.transitions().count == 2)
        }

        @Test(arguments: ["inspect", "verify", "export"])
        func `what is no journal is said in one line`(command: String) throws {
            let empty = try TemporaryDirectory()
            let (missing, _, errors) = try journal(command, in: empty.path)
            #expect(missing == .exited(EX_IOERR))
            #expect(errors.split(separator: "\n").count == 1)
            #expect(errors.contains(empty.path))
            try Data(String(repeating: "no journal ", count: 100).utf8)
                .write(to: URL(fileURLWithPath: empty.path + "/log-1"))
            #expect(try journal(command, in: empty.path).0 == .exited(EX_DATAERR))
        }
    }
}
