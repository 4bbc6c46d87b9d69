internal import ArbiterTestKit
internal import Foundation
internal import Glibc
internal import Testing

extension Integration {
    /// Settings from the command line, the environment and a file, and the sockets that they name.
    @Suite struct Settings {
        private let directory: TemporaryDirectory
        private var file: String { directory.path + "/arbiterd.yaml" }
        private var socket: String { directory.path + "/arbiterd.sock" }

        init() throws { directory = try TemporaryDirectory() }

        private func write(_ text: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        }

        private func run(
            _ arguments: [String], environment: [String: String] = [:]
        ) throws -> (status: Termination, output: String, errors: String) {
            let process = try ChildProcess("arbiterd", arguments, environment: environment)
            let status = try process.waitForExit()
            return (status, process.restOfOutput, process.standardError)
        }

        @Test func `the command line replaces the environment, and that the file`() throws {
            try write("threads: 1\nmax-parked: 11\nallow-host: [a, b]\njournal: memory\ninsecure: true\n")
            let shown = try run(
                ["config", "show", "--config", file, "--threads", "3"],
                environment: ["ARBITERD_THREADS": "2", "ARBITERD_MAX_PARKED": "12", "ARBITERD_INSECURE": "no"])
            #expect(shown.status == .exited(0))
            let lines = shown.output.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 1) }
            let values = Dictionary(grouping: lines, by: { String($0[0]) })
                .mapValues { $0.map { $0[1].trimmingCharacters(in: .whitespaces) } }
            #expect(values["threads"] == ["3  (command line)"])
            #expect(values["max-parked"] == ["12  (ARBITERD_MAX_PARKED)"])
            #expect(values["allow-host"] == ["a  (\(file))", "b  (\(file))"])
            #expect(values["journal"] == ["memory  (\(file))"])
            #expect(values["insecure"] == ["false  (ARBITERD_INSECURE)"])
            #expect(values["log-level"] == ["info  (default)"])
        }

        @Test func `every option of the help is a setting`() throws {
            let help = try run(["--help"]).output
            let found = help.matches(of: /^ +(?:-., )?--([a-z-]+)/.anchorsMatchLineEndings())
            let options = Set(found.map { String($0.1) })
            let lines = try run(["config", "show"]).output.split(separator: "\n")
            let shown = Set(lines.compactMap { $0.split(separator: " ").first.map(String.init) })
            #expect(options.subtracting(["config", "help", "version"]) == shown)
        }

        @Test(arguments: [
            ("max-parkd: 3\n", "arbiterd.yaml:1: there is no setting max-parkd: did you mean max-parked?"),
            ("\nthreads: [1, 2]\n", "arbiterd.yaml:2: threads must be a single value"),
            ("insecure: perhaps\n", "arbiterd.yaml:1: insecure must be true or false"),
            ("listen: 8080\n", "arbiterd.yaml: The value '8080' is invalid"),
            ("threads: 0\n", "arbiterd.yaml: --threads must be 1 to 256"),
            ("config: other.yaml\n", "arbiterd.yaml:1: there is no setting config"),
            ("threads: {\n", "not valid YAML"),
        ])
        func `a file that is wrong is refused, with its place`(text: String, reason: String) throws {
            try write(text)
            for arguments in [["config", "check"], ["config", "show"], []] {
                let ended = try run(arguments + ["--config", file])
                #expect([.exited(EX_CONFIG), .exited(EX_USAGE)].contains(ended.status), "\(ended.status)")
                #expect(ended.errors.contains(reason), "\(ended.errors)")
            }
        }

        @Test func `settings that are sound are said to be`() throws {
            try write("threads: 1\n")
            let checked = try run(["config", "check", "--config", file])
            #expect(checked.output == "the settings are sound\n")
            #expect(try run(["config"]).status == .exited(EX_USAGE))
            #expect(try run(["config", "check", "--config", file + ".missing"]).status == .exited(EX_CONFIG))
        }

        @Test func `etcd is not reached over a network without TLS`() throws {
            let node = ["config", "check", "--journal", "etcd", "--peer-listen", "127.0.0.1:0", "--etcd"]
            #expect(try run(node + ["http://127.0.0.1:2379"]).status == .exited(0))
            #expect(try run(node + ["https://198.18.0.1:2379"]).status == .exited(0))
            #expect(try run(node + ["http://198.18.0.1:2379", "--insecure"]).status == .exited(0))
            for open in ["http://198.18.0.1:2379", "http://127.example.org:2379"] {
                let ended = try run(node + [open])
                #expect(ended.status == .exited(EX_USAGE))
                #expect(ended.errors.contains("without TLS"), "\(ended.errors)")
            }
        }

        @Test func `a variable that is nearly a setting's is suggested`() throws {
            let ended = try run([], environment: ["ARBITERD_MAX_PARKD": "1"])
            #expect(ended.errors.contains("did you mean ARBITERD_MAX_PARKED?"))
        }

        @Test func `it listens on TCP and on Unix sockets at once`() throws {
            let other = directory.path + "/other.sock"
            let daemon = try DaemonProcess(["--listen", "unix:\(socket)", "--listen", "unix:\(other)"])
            let started = try daemon.connect().post("/transitions/start")
            #expect(started.status == 201)
            for path in [socket, other] {
                // Any host may be named: the permissions of the file decide.
                let client = try WireClient(path: path)
                try client.send("GET /transitions HTTP/1.1\r\nHost: anything.example\r\n\r\n".utf8)
                let listed = try client.receive()
                #expect(listed.status == 200)
                #expect(listed.text.contains(started.json["id"].text))
            }
            daemon.signal(SIGTERM)
            #expect(try daemon.waitForExit() == .exited(0))
            #expect(!FileManager.default.fileExists(atPath: socket))
        }

        @Test func `a ticket that waits on a Unix socket ends with its connection`() throws {
            let daemon = try DaemonProcess(["--listen", "unix:\(socket)"])
            let holder = try daemon.connect()
            #expect(try holder.post("/transitions/start").status == 201)
            let waiting = try WireClient(path: socket)
            try waiting.send("POST", "/transitions/serialize?wait=60", body: "{}")
            #expect(try eventually { try holder.get("/transitions?state=queued").text.contains("queued") })
            waiting.close()
            #expect(try eventually { try !holder.get("/transitions?state=queued").text.contains("queued") })
        }

        @Test func `the socket of a daemon that was killed is taken over`() throws {
            let first = try DaemonProcess(["--listen", "unix:\(socket)"])
            first.signal(SIGKILL)
            try first.waitForExit()
            #expect(FileManager.default.fileExists(atPath: socket))
            let second = try DaemonProcess(["--listen", "unix:\(socket)"])
            #expect(try WireClient(path: socket).get("/livez").status == 200)
            let refused = try run(["--listen", "unix:\(socket)", "--journal", "memory"])
            #expect(refused.status == .exited(EX_UNAVAILABLE))
            #expect(refused.errors.contains("another process listens on unix:\(socket)"))
            #expect(try WireClient(path: socket).get("/livez").status == 200)
            withExtendedLifetime(second) {}
        }
    }
}
