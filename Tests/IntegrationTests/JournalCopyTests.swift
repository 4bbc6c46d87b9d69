import ArbiterTestKit
import Foundation
import Glibc
import Testing

extension Integration {
    /// `arbiterd journal copy`: from a single daemon to a cluster on a real etcd, and back.
    @Suite struct JournalCopies {
        private let etcd: EtcdProcess
        private let directory: TemporaryDirectory
        private let target: TemporaryDirectory
        private let scenes = (0..<12).map { "scene-\($0)" }

        init() throws {
            etcd = try EtcdProcess()
            (directory, target) = (try TemporaryDirectory(), try TemporaryDirectory())
        }

        private func run(_ arguments: String...) throws -> (status: Termination, output: String, errors: String) {
            let process = try ChildProcess("arbiterd", arguments)
            let status = try process.waitForExit()
            return (status, process.restOfOutput, process.standardError)
        }

        private func copy(
            _ from: String, _ to: String, _ directory: TemporaryDirectory, shards: Int = 4
        ) throws -> (status: Termination, output: String, errors: String) {
            try run(
                "journal", "copy", "--from", from, "--to", to, "--data", directory.path, "--etcd", etcd.endpoint,
                "--shards", "\(shards)")
        }

        private func stop(_ daemons: [DaemonProcess]) throws {
            for daemon in daemons { daemon.signal(SIGTERM) }
            for daemon in daemons { #expect(try daemon.waitForExit() == .exited(0)) }
        }

        private func nodes() throws -> [DaemonProcess] {
            let nodes = try (0..<2).map { _ in
                try DaemonProcess([
                    "--journal", "etcd", "--etcd", etcd.endpoint, "--peer-listen", "127.0.0.1:0",
                    "--etcd-lease-seconds", "30", "--shards", "4",
                ])
            }
            for node in nodes {
                let client = try node.connect()
                try #require(
                    try eventually {
                        try client.get("/metrics").text.contains(#"arbiter_cluster_shards{served="here"} 2"#)
                    })
                try #require(try eventually { try client.get("/readyz").status == 200 })
            }
            return nodes
        }

        /// What clients know of a scene: a holder, two tickets, and how it looked to them.
        private struct Known {
            let scene: String
            let holder: WireResponse
            var tickets: [WireResponse]
            let storyboard: WireResponse
            let ended: WireResponse
            let key: String

            var request: JSONValue { ["scene": .string(scene), "leaseSeconds": 300, "client": "holder"] }
        }

        private func live(in scene: String, _ client: WireClient, session: String) throws -> Known {
            let declared = try client.request(
                "PUT", "/scenes/\(scene)/storyboard", headers: ["If-None-Match: *"], body: #"{"root": "nav"}"#)
            #expect(declared.status == 200)
            let ended = try client.start(["scene": .string(scene)])
            #expect(try client.end(ended).status == 200)
            let key = "key-of-\(scene)-0123456789"
            let request: JSONValue = ["scene": .string(scene), "leaseSeconds": 300, "client": "holder"]
            let holder = try client.post("/transitions/start", request, headers: ["Idempotency-Key: \(key)"])
            #expect(holder.status == 201)
            let tickets = try ["", session].map { session in
                try client.post(
                    "/transitions/serialize",
                    ["scene": .string(scene), "wait": 0, "ticketSeconds": 300, "leaseSeconds": 300],
                    headers: session.isEmpty ? [] : ["Arbiter-Session: \(session)"])
            }
            #expect(tickets.allSatisfy { $0.status == 202 })
            return Known(
                scene: scene, holder: holder, tickets: tickets,
                storyboard: try client.get("/scenes/\(scene)/storyboard"), ended: ended, key: key)
        }

        /// Checks that a client sees a scene as it was.
        private func check(_ known: Known, _ client: WireClient) throws {
            let storyboard = try client.get("/scenes/\(known.scene)/storyboard")
            #expect(storyboard.text == known.storyboard.text)
            #expect(storyboard.header("ETag") == known.storyboard.header("ETag"))
            let again = try client.post(
                "/transitions/start", known.request, headers: ["Idempotency-Key: \(known.key)"])
            for name in ["id", "token", "fence", "requestedAt"] { #expect(again[name] == known.holder[name]) }
            let scene = try client.get("/scenes/\(known.scene)")
            #expect(scene["queue"].elements.map { $0["id"] } == known.tickets.map { $0["id"] })
            let ended = try client.get("/transitions/\(known.ended["id"].string ?? "")")
            #expect(ended["outcome"] == "completed" && ended["fence"] == known.ended["fence"])
        }

        @Test func `everything is in the cluster, and in the daemon to which it is copied back`() throws {
            let daemon = try DaemonProcess(in: directory)
            let client = try daemon.connect()
            let session = try client.post("/sessions", ["client": "menu", "ttlSeconds": 300, "scene": "scene-0"])
            let token = try #require(session["token"].string)
            var known = try scenes.map { try live(in: $0, client, session: token) }
            #expect(try copy("disk", "etcd", directory).status == .exited(EX_UNAVAILABLE))
            try stop([daemon])

            let there = try copy("disk", "etcd", directory)
            #expect(there.status == .exited(0), "\(there.errors)")
            #expect(there.output.contains("the copy was read back, and is the same"))
            let again = try copy("disk", "etcd", directory)
            #expect(again.status != .exited(0) && again.errors.contains("already"))

            let nodes = try nodes()
            let clients = try nodes.map { try $0.connect() }
            let latest = try #require(known.compactMap { $0.holder["fence"].integer }.max())
            for (index, scene) in known.enumerated() {
                let client = clients[index % 2]
                try check(scene, client)
                #expect(try client.end(scene.holder).status == 200)
                let granted = try client.post(
                    "/transitions/await", scene.tickets[0].credentials.adding(["wait": 20]))
                #expect(granted["state"] == "running")
                #expect(try #require(granted["fence"].integer) > latest)
            }
            #expect(try clients[1].post("/sessions/renew", headers: ["Arbiter-Session: \(token)"]).status == 200)
            #expect(try copy("etcd", "disk", target).status == .exited(EX_UNAVAILABLE))
            try stop(nodes)

            let back = try copy("etcd", "disk", target)
            #expect(back.status == .exited(0), "\(back.errors)")
            #expect(back.output.contains("the copy was read back, and is the same"))
            let new = try DaemonProcess(in: target)
            try checkCopiedBack(&known, try new.connect(), session: token)
            #expect(new.logs("started"))
        }

        /// The first ticket of each scene holds its lock, and the second one, which is bound to the session, waits.
        private func checkCopiedBack(_ known: inout [Known], _ client: WireClient, session: String) throws {
            var fences: [Int] = []
            for index in known.indices {
                let holder = known[index].tickets.removeFirst()
                try check(known[index], client)
                let held = try client.post("/transitions/await", holder.credentials)
                #expect(held["state"] == "running")
                fences.append(try #require(held["fence"].integer))
                #expect(try client.end(holder).status == 200)
            }
            let latest = try #require(fences.max())
            for scene in known {
                let granted = try client.post(
                    "/transitions/await", scene.tickets[0].credentials.adding(["wait": 20]))
                #expect(granted["state"] == "running" && granted["client"] == "menu")
                #expect(try #require(granted["fence"].integer) > latest)
            }
            #expect(try client.post("/sessions/end", headers: ["Arbiter-Session: \(session)"]).status == 200)
            for scene in known {
                let ended = try client.get("/transitions/\(scene.tickets[0]["id"].string ?? "")")
                #expect(ended["reason"] == "session-lost")
            }
        }

        @Test func `a session that ends in the cluster ends what was copied into other shards`() throws {
            let daemon = try DaemonProcess(in: directory)
            let client = try daemon.connect()
            let session = try client.post("/sessions", ["client": "menu", "ttlSeconds": 300, "scene": "scene-0"])
            let token = try #require(session["token"].string)
            let known = try scenes.map { try live(in: $0, client, session: token) }
            try stop([daemon])
            #expect(try copy("disk", "etcd", directory).status == .exited(0))
            let nodes = try nodes()
            let other = try nodes[1].connect()
            #expect(try other.post("/sessions/end", headers: ["Arbiter-Session: \(token)"]).status == 200)
            for scene in known {
                let id = try #require(scene.tickets[1]["id"].string)
                try #require(try eventually { try other.get("/transitions/\(id)")["reason"] == "session-lost" })
            }
            try stop(nodes)
        }

        @Test func `a journal that was not closed, or where another is, is not copied`() throws {
            let daemon = try DaemonProcess(in: directory)
            _ = try daemon.connect().start()
            daemon.signal(SIGKILL)
            try daemon.waitForExit()
            let killed = try copy("disk", "etcd", directory)
            #expect(killed.status == .exited(EX_DATAERR))
            #expect(killed.errors.contains("start arbiterd with it, and stop it, first"))
            try stop([try DaemonProcess(in: directory)])
            #expect(try copy("disk", "etcd", directory).status == .exited(0))
            let full = try copy("etcd", "disk", directory)
            #expect(full.status == .exited(EX_IOERR) && full.errors.contains("there is a journal in"))
            #expect(try copy("etcd", "disk", target).status == .exited(0))
        }

        @Test(arguments: [
            (["--from", "etcd", "--to", "etcd"], "have to differ"),
            (["--from", "disk", "--to", "etcd"], "needs --etcd"),
            (["--to", "etcd"], "--from"),
            (["--from", "disk", "--to", "etcd", "--etcd", "http://127.0.0.1:1", "--shards", "0"], "1 to 256"),
        ])
        func `what cannot be meant is refused`(arguments: [String], reason: String) throws {
            let process = try ChildProcess("arbiterd", ["journal", "copy", "--data", directory.path] + arguments)
            #expect(try process.waitForExit() == .exited(EX_USAGE))
            #expect(process.standardError.contains(reason))
        }
    }
}
