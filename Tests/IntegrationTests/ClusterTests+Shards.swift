import ArbiterCore
import ArbiterTestKit
import Foundation
import Glibc
import Testing

// A cluster whose shards several nodes serve.

extension Integration.Clusters {
    /// Two nodes that serve two of four shards each.
    private func halves() throws -> (nodes: [DaemonProcess], clients: [WireClient]) {
        let nodes = try [node(["--shards", "4"]), node(["--shards", "4"])]
        let clients = try nodes.map { try $0.connect() }
        for client in clients {
            try #require(
                try eventually {
                    try client.get("/metrics").text.contains(#"arbiter_cluster_shards{served="here"} 2"#)
                })
            try #require(try eventually { try client.get("/readyz").status == 200 })
        }
        return (nodes, clients)
    }

    /// Scenes of all four shards, some of which are elsewhere for either node.
    private var scenes: [String] { (0..<12).map { "scene-\($0)" } }

    @Test func `lists have the scenes of all shards, from any node and page by page`() throws {
        let clients = try halves().clients
        for (index, scene) in scenes.enumerated() {
            let started = try clients[index % 2].post("/transitions/start", ["scene": .string(scene)])
            #expect(started.status == 201)
        }
        for client in clients {
            var (names, next) = ([String](), "/scenes?limit=5")
            while !next.isEmpty {
                let page = try client.get(next)
                names += page["scenes"].elements.compactMap { $0["name"].string }
                next = page.header("Link").map { String($0.dropFirst().prefix { $0 != ">" }) } ?? ""
            }
            #expect(names == scenes.sorted())
            var (requested, older) = ([String](), "/transitions?limit=5&state=running")
            while !older.isEmpty {
                let page = try client.get(older)
                requested = page["transitions"].elements.compactMap { $0["scene"].string } + requested
                older = page.header("Link").map { String($0.dropFirst().prefix { $0 != ">" }) } ?? ""
            }
            #expect(Set(requested) == Set(scenes) && requested.count == scenes.count)
            #expect(try client.get("/transitions?after=nonsense").status == 400)
            #expect(try client.get("/scenes?partial=perhaps").status == 400)
        }
    }

    @Test func `one stream has the events of all shards, and goes on where it was cut`() throws {
        let (nodes, clients) = try halves()
        let stream = try WireEventStream(port: nodes[0].port, path: "/events")
        #expect(stream.head.header("Arbiter-Heartbeat-Seconds") == "5")
        _ = try #require(try stream.receiveID())
        func use(_ scene: String) throws {
            let started = try clients[1].post("/transitions/start", ["scene": .string(scene)])
            _ = try clients[1].post("/transitions/end", ["id": started["id"], "token": started["token"]])
        }
        for scene in scenes { try use(scene) }
        let first = try stream.receive(2 * scenes.count)
        #expect(first.count { $0.name == "transition.running" } == scenes.count)
        #expect(first.count { $0.name == "transition.ended" } == scenes.count)
        let place = try #require(stream.text.lastID)
        // From another node, behind the place that was told: nothing is missing, and something may come twice.
        for scene in scenes { try use(scene) }
        let again = try WireEventStream(
            port: nodes[1].port, path: "/events", headers: ["Last-Event-ID: \(place)"])
        var seen = Set<String>()
        while seen.count < 2 * scenes.count {
            let event = try #require(try again.next())
            let data = event.json
            if data["number"].number ?? 0 > 2 { seen.insert("\(data["scene"]) \(data["number"])") }
        }
    }

    @Test func `a session is used in every shard, and its end ends everything`() throws {
        let clients = try halves().clients
        let session = try clients[0].post("/sessions", ["client": "menu", "ttlSeconds": 60, "scene": "scene-0"])
        #expect(session.status == 201)
        let header = ["Arbiter-Session: \(session["token"].string ?? "")"]
        var held: [WireResponse] = []
        for (index, scene) in scenes.enumerated() {
            let started = try clients[index % 2].post(
                "/transitions/start", ["scene": .string(scene), "leaseSeconds": 300], headers: header)
            #expect(started.status == 201)
            #expect(started["client"] == "menu")
            held.append(started)
        }
        #expect(try clients[1].post("/sessions/end", [:], headers: header).status == 200)
        for transition in held {
            let id = try #require(transition["id"].string)
            try #require(try eventually { try clients[0].get("/transitions/\(id)")["state"] == "ended" })
            #expect(try clients[1].get("/transitions/\(id)")["reason"] == "session-lost")
        }
        // What there is no session for is no guest either.
        for scene in scenes {
            let refused = try clients[0].post("/transitions/start", ["scene": .string(scene)], headers: header)
            #expect(refused.status == 401)
        }
    }

    @Test func `the ends of more sessions than a report has are told`() throws {
        let clients = try halves().clients
        var tickets: [String] = []
        for number in 0..<450 {
            // At home in one shard, and used in another.
            let session = try clients[0].post("/sessions", ["ttlSeconds": 300, "scene": .string(scenes[0])])
            let header = ["Arbiter-Session: \(session["token"].string ?? "")"]
            let ticket = try clients[number % 2].post(
                "/transitions/serialize", ["scene": .string(scenes[1 + number % 6]), "ticketSeconds": 300],
                headers: header)
            tickets.append(try #require(ticket["id"].string))
            #expect(try clients[0].post("/sessions/end", [:], headers: header).status == 200)
        }
        for id in tickets {
            try #require(try eventually { try clients[1].get("/transitions/\(id)")["state"] == "ended" })
        }
    }

    @Test func `a session of somebody else is none in any shard`() throws {
        let directory = try TemporaryDirectory()
        let file = directory.path + "/access.yaml"
        let mine = try entry("mine", in: file, "--role", "transition", "--scene", "*")
        let other = try entry("other", in: file, "--role", "transition", "--scene", "*")
        let client = try node(["--shards", "4", "--access", file]).connect()
        let session = try client.post("/sessions", [:], headers: [mine])
        let header = "Arbiter-Session: \(session["token"].string ?? "")"
        for scene in scenes {
            #expect(
                try client.post("/transitions/start", ["scene": .string(scene)], headers: [other, header]).status
                    == 401)
            #expect(
                try client.post("/transitions/start", ["scene": .string(scene)], headers: [mine, header]).status
                    == 201)
        }
    }
}
