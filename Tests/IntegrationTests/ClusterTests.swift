import ArbiterCore
import ArbiterTestKit
import Foundation
import Glibc
import Testing

extension Integration {
    /// Two nodes on a real etcd, one of which serves.
    @Suite struct Clusters {
        let etcd: EtcdProcess
        private let started = Started()

        /// Keeps the nodes until the end of a test.
        private final class Started {
            var nodes: [DaemonProcess] = []
        }

        init() throws {
            etcd = try EtcdProcess()
        }

        func node(_ arguments: [String] = []) throws -> DaemonProcess {
            let daemon = try DaemonProcess(
                [
                    "--journal", "etcd", "--etcd", etcd.endpoint, "--peer-listen", "127.0.0.1:0",
                    "--etcd-lease-seconds", "30",
                ] + (arguments.contains("--shards") ? [] : ["--shards", "1"]) + arguments)
            started.nodes.append(daemon)
            let client = try daemon.connect()
            try #require(try eventually { try client.get("/readyz").status == 200 })
            return daemon
        }

        /// A node that serves, and one that passes requests on to it.
        func nodes(_ arguments: [String] = []) throws -> (owner: DaemonProcess, relay: DaemonProcess) {
            let owner = try node(arguments)
            return (owner, try node(arguments))
        }

        @Test func `a node passes on what another one serves, and its answers back`() throws {
            let (owner, relay) = try nodes()
            let (there, here) = (try owner.connect(), try relay.connect())
            #expect(try there.get("/metrics").text.contains(#"arbiter_cluster_shards{served="here"} 1"#))
            let counts = try here.get("/metrics").text
            #expect(counts.contains(#"arbiter_cluster_shards{served="elsewhere"} 1"#))
            #expect(try eventually { try here.get("/metrics").text.contains("\narbiter_cluster_nodes 2\n") })
            #expect(try there.get("/metrics").text.contains("\narbiter_cluster_moves_total 1\n"))
            #expect(counts.contains("\narbiter_cluster_moves_total 0\n"))
            #expect(counts.contains("\narbiter_cluster_losses_total 0\n"))
            #expect(try eventually { try here.get("/metrics").text.contains("\narbiter_cluster_etcd_bytes{of=") })
            let started = try here.post("/transitions/start", ["scene": "a.b-1"], headers: ["X-Request-Id: mine"])
            #expect(started.status == 201)
            #expect(started.header("X-Request-Id") == "mine")
            let id = try #require(started["id"].string)
            #expect(try there.get("/transitions/\(id)")["state"] == "running")
            #expect(try here.get("/scenes/a.b-1")["runningCount"].number == 1)
            let storyboard = try here.request(
                "PUT", "/scenes/a/storyboard", headers: ["If-None-Match: *"],
                body: #"{"root": "nav"}"#)
            #expect(storyboard.status == 200)
            #expect(storyboard.header("ETag") != nil)
            let again = try here.request(
                "PUT", "/scenes/a/storyboard", headers: ["If-None-Match: *"],
                body: #"{"root": "nav"}"#)
            #expect(again.status == 412)
            #expect(again["code"] == "already-declared")
            // Nothing runs in these: what is left of a lease has another number of digits at every reading.
            for path in ["/scenes/a", "/scenes", "/scenes/none"] {
                let heads = try [there, here].map { try $0.request("HEAD", path) }
                #expect(heads[0].status == heads[1].status)
                #expect(heads[0].header("Content-Length") == heads[1].header("Content-Length"))
                #expect(heads[0].header("Content-Length") != "0")
            }
            let end = try here.post("/transitions/end", ["id": .string(id), "token": started["token"]])
            #expect(end.status == 200)
            #expect(try here.get("/transitions/\(id)")["outcome"] == "completed")
        }

        @Test func `events come through another node, and each has its number`() throws {
            let (owner, relay) = try nodes()
            let streams = try [owner, relay].map { try WireEventStream(port: $0.port) }
            let client = try relay.connect()
            let started = try client.start()
            _ = try client.post("/transitions/end", ["id": started["id"], "token": started["token"]])
            let events = try streams.map { stream in try (0..<2).compactMap { _ in try stream.next() } }
            #expect(events[0].map(\.id) == events[1].map(\.id))
            #expect(events[0].map(\.name) == events[1].map(\.name))
        }

        @Test func `a stream that is passed on says how often the node that serves it sends something`() throws {
            let (owner, relay) = (try node(["--etcd-lease-seconds", "10"]), try node())
            for node in [owner, relay] {
                let stream = try WireEventStream(port: node.port)
                #expect(stream.head.header("Arbiter-Heartbeat-Seconds") == "2.5")
                try stream.receiveComments(2)
            }
        }

        @Test func `a client that leaves another node's connection gives its ticket up`() throws {
            let (_, relay) = try nodes()
            let client = try relay.connect()
            _ = try client.start()
            let waiter = try relay.connect()
            try waiter.park()
            try #require(try client.isQueueLong(1))
            waiter.close()
            try #require(try client.isQueueLong(0))
            let ended = try client.get("/transitions?state=ended")
            #expect(ended["transitions"].elements.map { $0["reason"] } == ["abandoned"])
        }

        @Test func `the loss of a node gives no ticket up`() throws {
            let (owner, relay) = try nodes()
            let client = try owner.connect()
            let holder = try client.start(["leaseSeconds": 60])
            let waiter = try relay.connect()
            try waiter.park(["ticketSeconds": 60])
            try #require(try client.isQueueLong(1))
            relay.signal(SIGKILL)
            #expect(waiter.isClosedByPeer())
            try #require(try client.areParked(0))
            #expect(try client.get("/transitions?state=queued")["transitions"].elements.count == 1)
            _ = try client.post("/transitions/end", ["id": holder["id"], "token": holder["token"]])
            #expect(try client.get("/transitions?state=ended")["transitions"].elements.count == 1)
        }

        @Test func `a node that is told to stop hands over, and nobody loses a place`() throws {
            let (owner, relay) = try nodes()
            let client = try relay.connect()
            let holder = try client.start(["leaseSeconds": 60])
            let waiter = try relay.connect()
            try waiter.park(["ticketSeconds": 60])
            try #require(try client.isQueueLong(1))
            owner.signal(SIGTERM)
            let ticket = try waiter.receive()
            #expect(ticket.status == 202)
            // Nobody hears of it who asks another node: what comes meanwhile is held. Only where the next owner takes longer than
            // anything is held, which a busy machine may, it is refused after that.
            var asked = ContinuousClock.now
            var other = try client.start(["scene": "other"])
            for _ in 0..<8 where other.status == 503 {
                try #require(asked.duration(to: .now) > .seconds(5), "it was not held")
                asked = .now
                other = try client.start(["scene": "other"])
            }
            #expect(other.status == 201)
            #expect(try owner.waitForExit() == .exited(0))
            let ended = try client.post("/transitions/end", ["id": holder["id"], "token": holder["token"]])
            #expect(ended.status == 200)
            let granted = try client.post(
                "/transitions/await", ["id": ticket["id"], "token": ticket["token"], "wait": 10])
            #expect(granted["state"] == "running")
            #expect(other["fence"].number == (holder["fence"].number ?? 0) + 1)
            #expect(granted["fence"].number == (other["fence"].number ?? 0) + 1)
        }

        @Test func `when the owner is killed, another node goes on with what was answered`() throws {
            let (owner, relay) = (try node(["--etcd-lease-seconds", "6"]), try node())
            let client = try relay.connect()
            let key = ["Idempotency-Key: 0123456789-cluster"]
            let holder = try client.post("/transitions/start", ["leaseSeconds": 60], headers: key)
            #expect(holder.status == 201)
            owner.signal(SIGKILL)
            var again: WireResponse?
            try #require(
                try eventually {
                    again = try client.post("/transitions/start", ["leaseSeconds": 60], headers: key)
                    return again?.status == 201
                })
            #expect(again?["id"] == holder["id"])
            #expect(again?["fence"] == holder["fence"])
            #expect(try client.start().status == 409)
        }

        @Test func `the owner decides what a client may do whom another node knows`() throws {
            let directory = try TemporaryDirectory()
            let file = directory.path + "/access.yaml"
            let eyes = try entry("eyes", in: file, "--role", "observe", "--scene", "*")
            let hands = try entry("hands", in: file, "--role", "transition", "--scene", "k-*")
            let (_, relay) = try nodes(["--access", file])
            let client = try relay.connect()
            func start(_ scene: JSONValue, _ fields: String...) throws -> WireResponse {
                try client.post("/transitions/start", ["scene": scene], headers: fields)
            }
            #expect(try start("k-1", eyes).status == 403)
            #expect(try start("other", hands).status == 403)
            let started = try start("k-1", hands)
            #expect(started.status == 201)
            #expect(started["principal"] == "token:hands")
            #expect(try start("k-1").status == 401)
            // What only nodes may say counts nothing from a client.
            #expect(try start("k-2", eyes, "Arbiter-Principal: token:hands", "Arbiter-Entry: hands").status == 403)
        }

        @Test func `what only nodes may ask is nothing for clients`() throws {
            let client = try node(["--shards", "4"]).connect()
            for path in ["/cluster/sessions/lend", "/cluster/sessions/report", "/cluster/departures"] {
                #expect(try client.post(path, [:]).status == 404)
            }
            #expect(try client.get("/scenes", headers: ["Arbiter-Part: 0"])["scenes"].elements.isEmpty)
            #expect(try client.get("/trace").status == 404)
        }

        @Test(arguments: [
            (["--etcd", "http://127.0.0.1:1"], "need --journal etcd"),
            (["--journal", "etcd", "--etcd", "http://127.0.0.1:1"], "needs --peer-listen"),
            (["--journal", "etcd", "--peer-listen", "127.0.0.1:0"], "needs --etcd"),
            (["--journal", "etcd", "--etcd", "etcd:2379"], "expected an address such as"),
            (
                ["--journal", "etcd", "--etcd", "http://127.0.0.1:1", "--insecure", "--peer-listen", "0.0.0.0:0"],
                "use tls:0.0.0.0:0 with --peer-certificate, --peer-key and --peer-ca"
            ),
            (
                [
                    "--journal", "etcd", "--etcd", "http://127.0.0.1:1", "--peer-listen", "127.0.0.1:0", "--advertise",
                    "http://10.0.0.1:7080",
                ], "http://10.0.0.1:7080 is reached over a network without TLS"
            ),
            (
                [
                    "--journal", "etcd", "--etcd", "http://127.0.0.1:1", "--peer-listen", "127.0.0.1:0", "--peer-key",
                    "key",
                ], "give both --peer-certificate and --peer-key"
            ),
        ])
        func `settings that make no node are refused`(arguments: [String], reason: String) throws {
            let process = try ChildProcess("arbiterd", ["--listen", "127.0.0.1:0"] + arguments)
            #expect(try process.waitForExit() == .exited(64))
            #expect(process.standardError.contains(reason))
        }

        /// Makes an entry, and returns the header field with its secret.
        func entry(_ name: String, in file: String, _ arguments: String...) throws -> String {
            let process = try ChildProcess("arbiterd", ["access", "new", name, "--access", file] + arguments)
            #expect(try process.waitForExit() == .exited(0))
            return "Authorization: Bearer " + process.restOfOutput.trimmingCharacters(in: .newlines)
        }
    }
}
