import ArbiterCore
import ArbiterEngine
import ArbiterRelay
import ArbiterTestKit
import Logging
import Testing

@testable import ArbiterHTTP

/// What a node of a cluster says of it, and what it refuses while etcd has hardly any room.
struct ClusterEndpointTests {
    /// A node with two shards, of which it serves the first.
    private struct Node {
        let shards = Shards(count: 2, address: "http://a:1")
        let router: Router

        init() throws {
            let engine = try Engine(journal: MemoryJournal(keepsRecords: false))
            shards.begin(0, engine)
            router = Router(
                shards: shards, hub: EventHub(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }

        func note(_ owners: [Int: ClusterMap.Owner], at milliseconds: Int64 = 0) {
            let nodes = Set(owners.values.map(\.address)).sorted().map { ClusterMap.Node(address: $0, version: "7") }
            shards.note(ClusterMap(nodes: nodes, owners: owners), at: Timestamp(milliseconds: milliseconds))
        }

        func ask(
            _ method: String, _ path: String, _ body: String = "", key: String? = nil, query: [QueryItem] = []
        ) throws -> Answer {
            var headers: [HeaderName: String] = [.host: "localhost"]
            headers[.idempotencyKey] = key
            if !body.isEmpty { headers[.contentType] = "application/json" }
            let exchange = RecordingExchange()
            router.handle(
                Request(
                    method: method, path: path, query: query, headers: DictionaryHeaders(fields: headers),
                    body: Array(body.utf8)), exchange)
            return try exchange.answer()
        }
    }

    @Test func `a single daemon has one shard and no nodes`() throws {
        #expect(try Service().ask("GET", "/cluster").body == ["shards": 1, "nodes": [], "owners": [], "moves": []])
    }

    @Test func `a node tells who serves what, and what has moved since it began`() throws {
        let node = try Node()
        node.note([0: .init(address: "http://a:1", tenure: 5)])
        node.note([0: .init(address: "http://a:1", tenure: 5), 1: .init(address: "http://b:1", tenure: 8)], at: 1000)
        // Between two owners there is none.
        node.note([0: .init(address: "http://a:1", tenure: 5)], at: 2000)
        node.note([0: .init(address: "http://a:1", tenure: 5), 1: .init(address: "http://c:1", tenure: 9)], at: 3000)
        #expect(
            try node.ask("GET", "/cluster").body == [
                "shards": 2, "node": "http://a:1",
                "nodes": [["address": "http://a:1", "version": "7"], ["address": "http://c:1", "version": "7"]],
                "owners": [
                    ["shard": 0, "node": "http://a:1", "tenure": 5], ["shard": 1, "node": "http://c:1", "tenure": 9],
                ],
                "moves": [
                    [
                        "at": "1970-01-01T00:00:03.000Z", "shard": 1, "from": "http://b:1", "to": "http://c:1",
                        "tenure": 9,
                    ],
                    ["at": "1970-01-01T00:00:01.000Z", "shard": 1, "to": "http://b:1", "tenure": 8],
                ],
            ])
    }

    @Test func `a node that knows no owner of a shard says what it waits for`() throws {
        let node = try Node()
        node.note([0: .init(address: "http://a:1", tenure: 5)])
        #expect(try node.ask("GET", "/cluster").body["waitsFor"] == "an owner of each of the 2 shards")
    }

    @Test func `a node is ready although a shard cannot be served, and says which one and why`() throws {
        let node = try Node()
        let owners = [0: ClusterMap.Owner(address: "http://a:1", tenure: 5)]
        #expect(try node.ask("GET", "/readyz").status == 503)
        let why = ClusterMap.Unserved(node: "http://b:1", reason: "it is damaged")
        node.shards.note(ClusterMap(owners: owners, unserved: [1: why]), at: Timestamp(milliseconds: 0))
        let unserved: JSON = [["shard": 1, "node": "http://b:1", "reason": "it is damaged"]]
        let ready = try node.ask("GET", "/readyz")
        #expect(ready.status == 200)
        #expect(ready.body == ["status": "ready", "unserved": unserved])
        let cluster = try node.ask("GET", "/cluster").body
        #expect(cluster["unserved"] == unserved)
        #expect(cluster["waitsFor"] == nil)
        // A node that serves nothing and knows nobody who does is of no use.
        node.shards.lose(0)
        node.shards.note(ClusterMap(unserved: [0: why, 1: why]), at: Timestamp(milliseconds: 0))
        #expect(try node.ask("GET", "/readyz").status == 503)
    }

    @Test func `while etcd has hardly any room nothing new is admitted, and what is unfinished ends`() throws {
        let node = try Node()
        node.note([0: .init(address: "http://a:1", tenure: 5)])
        let scene = try #require(
            (0..<100).map { "s\($0)" }.first { name in
                [name, name + "-2"].allSatisfy { Slot(SceneName(unchecked: $0)).shard(of: 2) == 0 }
            })
        let request = #"{"scene":"\#(scene)","client":"c"}"#
        let key = "0123456789-0123456789"
        let started = try node.ask("POST", "/transitions/start", request, key: key)
        #expect(started.status == 201)
        #expect(try node.ask("PUT", "/scenes/\(scene)-2/storyboard", #"{"root":"nav"}"#).status == 200)
        node.shards.note(StoredSize(file: 90, used: 85), isShort: true)
        for (method, path, body) in [
            ("POST", "/transitions/start", request), ("POST", "/transitions/serialize", request),
            ("POST", "/sessions", ""),
            ("PUT", "/scenes/\(scene)-2/storyboard", #"{"root":"nav"}"#),
            ("PATCH", "/scenes/\(scene)-2/storyboard", #"{"defaults":{"duration":2}}"#),
        ] {
            let refused = try node.ask(method, path, body)
            #expect(refused.status == 503)
            #expect(refused.code == "out-of-room")
            #expect(refused.headers("Retry-After") == ["10"])
        }
        // What was acknowledged is answered again, and what would come of a request.
        #expect(try node.ask("POST", "/transitions/start", request, key: key).body["id"] == started.body["id"])
        for path in ["start", "serialize"] {
            let dryRun = [QueryItem(name: "dryRun", value: "true")]
            let answer = try node.ask("POST", "/transitions/\(path)", request, query: dryRun)
            #expect(answer.code != "out-of-room")
        }
        let (id, token) = (try #require(started.body["id"]?.text), try #require(started.body["token"]?.text))
        let ended = try node.ask("POST", "/transitions/end", #"{"id":"\#(id)","token":"\#(token)"}"#)
        #expect(ended.status == 200)
        node.shards.note(StoredSize(file: 90, used: 40), isShort: false)
        #expect(try node.ask("POST", "/transitions/start", request).status == 201)
    }
}
