internal import ArbiterTestKit
internal import Foundation
internal import Glibc
internal import Testing

extension Integration {
    /// The output of the daemon when it starts, or refuses to.
    @Suite struct StartingTheDaemon {
        /// Runs a daemon that is expected to end by itself, and returns its exit code and output.
        private func run(
            _ arguments: [String], environment: [String: String] = [:]
        ) throws -> (status: Termination, output: String, errors: String) {
            let process = try ChildProcess("arbiterd", arguments, environment: environment)
            let status = try process.waitForExit()
            return (status, process.restOfOutput, process.standardError)
        }

        private func expectOneLine(_ errors: String, containing part: String) {
            #expect(errors.hasPrefix("arbiterd: "))
            #expect(errors.contains(part))
            #expect(errors.split(separator: "\n", omittingEmptySubsequences: false).count == 2)
            #expect(errors.hasSuffix("\n"))
        }

        @Test func `a port in use is said in one line`() throws {
            let first = try DaemonProcess()
            let second = try run(["--listen", "127.0.0.1:\(first.port)"])
            #expect(second.status == .exited(EX_UNAVAILABLE))
            #expect(second.output == "")
            expectOneLine(second.errors, containing: "cannot listen on 127.0.0.1:\(first.port): Address already in use")
            #expect(try first.connect().get("/livez").status == 200)
        }

        @Test(arguments: [
            ["--nonsense"], ["--listen"], ["--listen", "nowhere"], ["--listen", "127.0.0.1:65536"],
            ["--listen", "127.0.0.1:http"], ["--max-parked", "0"], ["--max-parked", "many"], ["--threads", "0"],
            ["--log-level", "loud"], ["--log-format", "xml"], ["argument"],
        ])
        func `a bad option is said in one line`(arguments: [String]) throws {
            let ended = try run(arguments)
            #expect(ended.status == .exited(EX_USAGE))
            #expect(ended.output == "")
            expectOneLine(ended.errors, containing: "--help")
        }

        @Test(arguments: ["0.0.0.0:0", "[::]:0"])
        func `beyond loopback it listens only when told to insecurely`(address: String) throws {
            let refused = try run(["--listen", address])
            #expect(refused.status == .exited(EX_CONFIG))
            expectOneLine(refused.errors, containing: "--insecure")
        }

        @Test(arguments: [
            (["--listen", "nonsense"], "expected host:port, such as 127.0.0.1:8080"),
            (["--allow-host", "kiosk:80"], "expected a host name without a port"),
            (["--allow-origin", "null"], "expected scheme, host and port, such as http://localhost:3000"),
        ])
        func `a bad option says what is expected`(arguments: [String], expected: String) throws {
            let ended = try run(arguments)
            #expect(ended.status == .exited(EX_USAGE))
            expectOneLine(ended.errors, containing: expected)
        }

        @Test func `a directory that cannot be made is said in words`() throws {
            let directory = try TemporaryDirectory()
            let file = directory.path + "/file"
            try Data().write(to: URL(fileURLWithPath: file))
            let ended = try run(["--listen", "127.0.0.1:0", "--data", file + "/sub"])
            #expect(ended.status == .exited(EX_IOERR))
            expectOneLine(ended.errors, containing: "cannot make the directory \(file)/sub: Not a directory")
        }

        @Test func `a directory without a name is refused`() throws {
            let ended = try run(["--listen", "127.0.0.1:0", "--data", ""])
            #expect(ended.status == .exited(EX_USAGE))
            expectOneLine(ended.errors, containing: "--data names no directory")
        }

        @Test(arguments: [["--help"], ["--version"], ["journal", "inspect", "--help"], ["help"]])
        func `help is given whatever the environment says`(arguments: [String]) throws {
            let environment = ["ARBITERD_NONSENSE": "1", "ARBITERD_LOG_LEVEL": "x"]
            #expect(try run(arguments, environment: environment).status == .exited(0))
        }

        @Test(arguments: [[], ["journal", "inspect"]])
        func `a variable that is no option is refused`(arguments: [String]) throws {
            let ended = try run(arguments, environment: ["ARBITERD_DURABLITY": "power"])
            #expect(ended.status == .exited(EX_USAGE))
            expectOneLine(ended.errors, containing: "ARBITERD_DURABLITY")
        }

        @Test func `what Kubernetes sets for a service of this name is let be`() throws {
            let environment = [
                "ARBITERD_SERVICE_HOST": "10.0.0.1", "ARBITERD_PORT": "tcp://10.0.0.1:8080",
                "ARBITERD_PORT_8080_TCP": "tcp://10.0.0.1:8080", "ARBITERD_HEADLESS_SERVICE_HOST": "None",
                "ARBITERD_1_PORT": "tcp://10.0.0.2:8080",
            ]
            let daemon = try DaemonProcess(environment: environment)
            #expect(try daemon.connect().get("/livez").status == 200)
        }

        @Test func `the journal's directory is where the environment has state kept`() throws {
            let home = try TemporaryDirectory()
            let stated = ["HOME": home.path, "XDG_STATE_HOME": "", "STATE_DIRECTORY": ""]
            for (environment, place) in [
                ([:], "/.local/state/arbiterd"), (["XDG_STATE_HOME": "relative"], "/.local/state/arbiterd"),
                (["XDG_STATE_HOME": home.path + "/xdg"], "/xdg/arbiterd"),
                (["XDG_STATE_HOME": home.path + "/xdg", "STATE_DIRECTORY": home.path + "/a:/b"], "/a"),
            ] {
                let process = try ChildProcess(
                    "arbiterd", ["--listen", "127.0.0.1:0"], environment: stated.merging(environment) { $1 })
                _ = try process.readLine()
                process.signal(SIGTERM)
                #expect(try process.waitForExit() == .exited(0))
                #expect(process.standardError.contains("\(home.path)\(place)"))
                let inspected = try run(["journal", "verify"], environment: stated.merging(environment) { $1 })
                #expect(inspected.output.contains("\(home.path)\(place) is sound"))
            }
        }

        @Test func `a host that is allowed is served, and another is not`() throws {
            let environment = ["ARBITERD_ALLOW_HOST": "arbiter,arbiter.local", "ARBITERD_ALLOW_ORIGIN": "http://a:1"]
            // The command line replaces what the environment gives.
            let replaced = try DaemonProcess(["--allow-host", "kiosk.example"], environment: environment)
            let other = try replaced.connect()
            for (host, status) in [("kiosk.example:80", 200), ("arbiter", 421)] {
                try other.send("GET /livez HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8)
                #expect(try other.receive().status == status, "\(host)")
            }
            let daemon = try DaemonProcess(environment: environment)
            let client = try daemon.connect()
            for (host, status) in [("arbiter", 200), ("arbiter.local", 200), ("evil.example", 421)] {
                try client.send("GET /livez HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8)
                #expect(try client.receive().status == status, "\(host)")
            }
            #expect(try client.get("/livez", headers: ["Origin: http://a:1"]).status == 200)
            #expect(try client.get("/livez", headers: ["Origin: http://a"]).status == 403)
        }

        @Test func `a host that cannot be is not found`() throws {
            // Longer than a label of a host name may be, so that the name is not looked up in the DNS.
            let ended = try run(["--listen", String(repeating: "x", count: 64) + ".invalid:0"])
            #expect(ended.status == .exited(EX_NOHOST))
            expectOneLine(ended.errors, containing: "cannot find the address of xxx")
        }

        @Test(arguments: [
            ("--version", "0."), ("--help", "USAGE: arbiterd"), ("-h", "--max-parked"), ("help", "USAGE: arbiterd"),
            ("version", "0."),
            ("--help", "journal "),
        ])
        func `help and version are answers, not failures`(option: String, part: String) throws {
            let ended = try run([option])
            #expect(ended.status == .exited(0))
            #expect(ended.output.contains(part))
            #expect(ended.errors == "")
        }

        @Test func `the environment says what the command line does not`() throws {
            let environment = [
                "ARBITERD_LISTEN": "127.0.0.1:0", "ARBITERD_MAX_PARKED": "1", "ARBITERD_LOG_FORMAT": "json",
                "ARBITERD_LOG_LEVEL": "debug", "ARBITERD_INSECURE": "no",
            ]
            let daemon = try DaemonProcess(environment: environment, listen: nil)
            let client = try daemon.connect()
            let waiter = try daemon.connect()
            _ = try client.start()
            try waiter.park()
            try #require(try client.isQueueLong(1))
            #expect(try client.serialize(["wait": 60]).status == 503)
            #expect(
                eventually {
                    daemon.log.split(separator: "\n").contains { JSONValue($0.utf8)?["level"] == "debug" }
                })
        }

        @Test func `the command line counts more than the environment`() throws {
            let environment = ["ARBITERD_LISTEN": "nowhere", "ARBITERD_MAX_PARKED": "1"]
            #expect(try run([], environment: environment).status == .exited(EX_USAGE))
            let listening = ["ARBITERD_LISTEN": "0.0.0.0:0", "ARBITERD_MAX_PARKED": "1"]
            let daemon = try DaemonProcess(["--max-parked", "2"], environment: listening)
            let client = try daemon.connect()
            let waiters = [try daemon.connect(), try daemon.connect()]
            _ = try client.start()
            for waiter in waiters { try waiter.park() }
            try #require(try client.isQueueLong(2))
        }

        @Test(arguments: [
            ["ARBITERD_INSECURE": "maybe"], ["ARBITERD_MAX_PARKED": ""], ["ARBITERD_LOG_LEVEL": "loud"],
        ])
        func `a bad variable is said in one line`(environment: [String: String]) throws {
            let ended = try run(["--listen", "127.0.0.1:0"], environment: environment)
            #expect(ended.status == .exited(EX_USAGE))
            #expect(ended.errors.split(separator: "\n").count == 1)
        }

        @Test(arguments: ["text", "json"])
        func `the log tells no token, however much it tells`(format: String) throws {
            let daemon = try DaemonProcess(["--log-level", "trace", "--log-format", format])
            let client = try daemon.connect()
            let waiter = try daemon.connect()
            let held = try client.start(["client": "\"quoted\"\\ and ünïcode"])
            let ticket = try client.serialize(["ticketSeconds": 60])
            try waiter.send("POST", "/transitions/await", body: ticket.credentials.text)
            let token = try #require(held["token"].string)
            _ = try client.post("/transitions/renew", held.credentials)
            _ = try client.get("/transitions/await?id=\(held["id"].string ?? "")&token=\(token)")
            _ = try client.post("/transitions/end", ["id": ticket["id"], "token": held["token"]])
            _ = try client.post("/transitions/end?token=\(token)", held.credentials)
            _ = try client.get("/transitions/\(token)")
            _ = try client.get("/livez", headers: ["X-Request-Id: \(token)"])
            _ = try client.end(held)
            #expect(try waiter.receive()["state"] == "running")
            daemon.signal(SIGTERM)
            #expect(try daemon.waitForExit() == .exited(0))

            #expect(daemon.logs("/transitions/serialize"))
            let log = daemon.log
            for token in [held["token"], ticket["token"]] {
                let token = try #require(token.string)
                #expect(!log.contains(token))
            }
            guard format == "json" else { return }
            for line in log.split(separator: "\n") {
                let entry = try #require(JSONValue(line.utf8), "\(line)")
                #expect(entry.names.isSuperset(of: ["time", "level", "logger", "message"]))
            }
        }

        @Test func `a terminal that shows the log is told nothing by a request`() throws {
            let daemon = try DaemonProcess(["--log-level", "debug"])
            #expect(try daemon.connect().get("/\u{1b}[2J\u{9b}2J").status == 400)
            #expect(try daemon.connect().request("\u{1b}", "/livez").status == 400)
            #expect(daemon.logs("GET /?[2J?2J 400"))
            #expect(daemon.logs("? /livez 400"))
            #expect(!daemon.log.contains("\u{1b}"))
        }
    }
}
