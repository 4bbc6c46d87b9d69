internal import ArbiterTestKit
internal import Foundation
internal import Glibc
internal import Testing

extension Integration {
    /// Access control with the real daemon, by tokens and by the users of a Unix socket.
    @Suite struct Access {
        private let directory: TemporaryDirectory
        private var file: String { directory.path + "/access.yaml" }
        private var socket: String { directory.path + "/arbiterd.sock" }

        init() throws { directory = try TemporaryDirectory() }

        private func run(_ arguments: String...) throws -> (status: Termination, output: String, errors: String) {
            let process = try ChildProcess("arbiterd", ["access"] + arguments + ["--access", file])
            let status = try process.waitForExit()
            return (status, process.restOfOutput, process.standardError)
        }

        /// Makes an entry, and returns the header field with its secret.
        private func entry(_ name: String, _ arguments: String...) throws -> String {
            let process = try ChildProcess("arbiterd", ["access", "new", name, "--access", file] + arguments)
            #expect(try process.waitForExit() == .exited(0))
            return "Authorization: Bearer " + process.restOfOutput.trimmingCharacters(in: .newlines)
        }

        @Test func `an entry that the command makes lets its client in`() throws {
            let kiosk = try entry("kiosk", "--role", "observe", "--role", "transition", "--scene", "kiosk-*")
            let ops = try entry("ops", "--role", "admin", "--scene", "*")
            let daemon = try DaemonProcess(["--access", file])
            let client = try daemon.connect()
            #expect(try client.request("GET", "/transitions").status == 401)
            #expect(try client.request("GET", "/livez").status == 200)
            let body = #"{"scene": "kiosk-1"}"#
            let started = try client.request("POST", "/transitions/start", headers: [kiosk], body: body)
            #expect(started.status == 201)
            #expect(try client.request("POST", "/transitions/start", headers: [ops], body: body).status == 403)
            #expect(try client.request("POST", "/transitions/start", headers: [kiosk], body: "{}").status == 403)
            let revoking = #"{"id": \#(started.json["id"].text), "reason": "over"}"#
            let revoked = try client.request("POST", "/transitions/revoke", headers: [ops], body: revoking)
            #expect(revoked.json["revokedBy"].string == "token:ops")
            #expect(daemon.logs("by=token:ops"))
            for secret in [kiosk, ops] { #expect(!daemon.log.contains(String(secret.suffix(40)))) }
        }

        @Test func `the file is read again on SIGHUP, and a wrong one changes nothing`() throws {
            let kiosk = try entry("kiosk", "--role", "observe", "--scene", "*")
            let daemon = try DaemonProcess(["--access", file, "--allow-no-one"])
            let client = try daemon.connect()
            let stream = try daemon.connect()
            try stream.send("GET", "/events", headers: [kiosk])
            #expect(try stream.receiveHead().status == 200)
            try Data("principals: nonsense".utf8).write(to: URL(fileURLWithPath: file))
            daemon.signal(SIGHUP)
            #expect(daemon.logs("the access file is wrong"))
            #expect(try client.request("GET", "/transitions", headers: [kiosk]).status == 200)
            try Data("principals: []".utf8).write(to: URL(fileURLWithPath: file))
            daemon.signal(SIGHUP)
            #expect(daemon.logs("the access file has been read again"))
            #expect(try client.request("GET", "/transitions", headers: [kiosk]).status == 401)
            while try stream.receiveChunk() != nil {}
        }

        @Test func `a user of the Unix socket needs no secret`() throws {
            _ = try entry("me", "--user", String(getuid()), "--role", "observe", "--role", "transition", "--scene", "*")
            let daemon = try DaemonProcess(["--access", file, "--listen", "unix:\(socket)"])
            let started = try WireClient(path: socket).request("POST", "/transitions/start")
            #expect(started.status == 201)
            #expect(started.json["principal"].string == "uid:\(getuid())")
            #expect(try daemon.connect().request("POST", "/transitions/start").status == 401)
        }

        @Test func `beyond loopback it listens with access control`() throws {
            _ = try entry("kiosk", "--role", "observe", "--scene", "*")
            let daemon = try DaemonProcess(["--access", file], listen: "0.0.0.0:0")
            #expect(try daemon.connect().request("GET", "/transitions").status == 401)
        }

        @Test func `what cannot be an entry is refused, and the file stays as it was`() throws {
            _ = try entry("kiosk", "--role", "observe", "--scene", "*")
            let before = try String(contentsOfFile: file, encoding: .utf8)
            for (arguments, reason) in [
                (["kiosk", "--role", "observe", "--scene", "*"], "there is an entry with the name kiosk already"),
                (["a b", "--role", "observe", "--scene", "*"], "name must be"),
                (["a", "--role", "root", "--scene", "*"], "'root' is invalid"),
                (["a", "--role", "observe"], "--scene"),
                (["a", "--scene", "*"], "--role"), (["a", "--role", "observe", "--scene", "a b"], "scenes must be"),
                (
                    ["a", "--role", "observe", "--scene", "*", "--user", "no-such-user"],
                    "there is no user no-such-user"
                ),
                (["a", "--role", "observe", "--scene", "*", "--user", "0", "--group", "0"], "only one of"),
            ] {
                let process = try ChildProcess("arbiterd", ["access", "new", "--access", file] + arguments)
                #expect(try process.waitForExit() != .exited(0))
                #expect(process.standardError.contains(reason), "\(process.standardError)")
            }
            #expect(try String(contentsOfFile: file, encoding: .utf8) == before)
            #expect(try run("list").output == "kiosk  token  observe  *\n")
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }

        @Test func `a file that is wrong keeps the daemon from starting`() throws {
            try Data("principals: nonsense".utf8).write(to: URL(fileURLWithPath: file))
            for arguments in [["config", "check"], []] {
                let process = try ChildProcess("arbiterd", arguments + ["--access", file])
                #expect(try process.waitForExit() == .exited(EX_CONFIG))
                #expect(process.standardError.contains("access.yaml:1: principals must be a list"))
            }
        }
    }
}
