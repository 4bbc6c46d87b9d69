import ArbiterCore
import ArbiterEngine
import ArbiterRelay
import ArbiterTestKit
import ArbiterTransfers
import Logging
import Testing

@testable import ArbiterHTTP

/// A node whose shards others serve until it is told otherwise.
final class RelayNode {
    static let address = "http://relay:1"

    let shards: Shards
    let router: Router
    private let loop = TransferLoop()
    private let hub = EventHub()

    /// - Parameters:
    ///   - count: how many shards there are.
    ///   - access: who may do what.
    ///   - change: changes the times, which are so long that they do not matter.
    init(
        shards count: Int = 1, access: AccessControl = AccessControl(),
        _ change: (inout RelayTimes) -> Void = { _ in }
    ) {
        shards = Shards(count: count, address: Self.address)
        var times = RelayTimes(lease: .seconds(60), comments: .seconds(60))
        times.answering = .seconds(60)
        times.asking = .seconds(60)
        times.grace = .milliseconds(50)
        change(&times)
        router = Router(
            shards: shards, hub: hub, access: access,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            forwarder: Forwarder(loop: loop, trust: .init(), times: times))
    }

    deinit {
        router.drain()
        loop.closeAndWait()
    }

    /// The map shows this owner of a shard, and none of the others.
    func note(_ server: StubServer?, tenure: UInt64, of shard: Int = 0) {
        let owner = server.map { ClusterMap.Owner(address: $0.address, tenure: tenure) }
        shards.note(ClusterMap(owners: owner.map { [shard: $0] } ?? [:]), at: Timestamp(milliseconds: 0))
    }

    /// A shard is served here from now on.
    @discardableResult
    func serve(_ shard: Int = 0) throws -> Engine {
        let engine = try Engine(journal: MemoryJournal(keepsRecords: false))
        shards.begin(shard, engine)
        return engine
    }

    /// Sends a request, whose answer comes later.
    @discardableResult
    func send(
        _ method: String, _ target: String, _ body: String = "", headers: [HeaderName: String] = [:],
        peer: Peer = .network(address: "192.0.2.7"), client: ClientPresence = .present,
        to exchange: RecordingExchange = RecordingExchange()
    ) -> RecordingExchange {
        send(
            method, target, bytes: Array(body.utf8), headers: headers, peer: peer, client: client, to: exchange)
    }

    /// Sends a request with any body, whose answer comes later.
    func send(
        _ method: String, _ target: String, bytes: [UInt8], headers: [HeaderName: String] = [:], peer: Peer,
        client: ClientPresence = .present, to exchange: RecordingExchange = RecordingExchange()
    ) -> RecordingExchange {
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        let query = parts.dropFirst().flatMap { $0.split(separator: "&") }.map { item in
            let pair = item.split(separator: "=", maxSplits: 1).map(String.init)
            return QueryItem(name: pair[0], value: pair[1])
        }
        var fields: [HeaderName: String] = [.host: "localhost"]
        if !bytes.isEmpty { fields[.contentType] = "application/json" }
        router.handle(
            Request(
                method: method, path: parts[0], query: query,
                headers: DictionaryHeaders(fields: fields.merging(headers) { $1 }), body: bytes, peer: peer,
                client: client),
            exchange)
        return exchange
    }
}

extension RecordingExchange {
    /// The answer, once it has come.
    func laterAnswer(sourceLocation: SourceLocation = #_sourceLocation) throws -> Answer {
        try #require(eventually(within: .seconds(20)) { !responses.isEmpty }, sourceLocation: sourceLocation)
        return try answer(sourceLocation: sourceLocation)
    }

    /// What its stream gives until it has ended as it should; `nil` if it does not.
    func wholeStream() -> [UInt8]? {
        guard let source else { return nil }
        var read: [UInt8] = []
        let hasEnded = eventually(within: .seconds(20)) {
            var piece = source.read(upTo: 16 << 10)
            while case .bytes(let bytes) = piece {
                read += bytes
                piece = source.read(upTo: 16 << 10)
            }
            return piece == .end
        }
        return hasEnded ? read : nil
    }

    /// How its stream has ended, once it has.
    func ending(sourceLocation: SourceLocation = #_sourceLocation) throws -> StreamPiece {
        try #require(eventually(within: .seconds(20)) { self.source != nil }, sourceLocation: sourceLocation)
        let source = try #require(self.source, sourceLocation: sourceLocation)
        var piece = StreamPiece.nothing
        _ = eventually(within: .seconds(20)) {
            piece = source.read(upTo: 1024)
            return piece == .end || piece == .cut
        }
        return piece
    }
}

extension StubServer {
    /// A request, once it has arrived.
    func request(_ number: Int = 0, sourceLocation: SourceLocation = #_sourceLocation) throws -> Request {
        try #require(eventually(within: .seconds(20)) { requests.count > number }, sourceLocation: sourceLocation)
        return requests[number]
    }
}

extension StubServer.Reaction {
    /// A problem, as a node tells it.
    static func problem(_ status: Int, _ code: String, isUntouched: Bool = false) -> Self {
        .answer(
            status: status,
            fields: ["Content-Type: application/problem+json; charset=utf-8", "Retry-After: 1"]
                + (isUntouched ? ["\(Response.untouched): 1"] : []),
            body: """
                {"type":"urn:arbiter:problem:\(code)","title":"t","status":\(status),"detail":"d.","code":"\(code)",\
                "retryAfter":1}
                """)
    }

    /// An answer of a node.
    static func json(_ status: Int, _ body: String) -> Self {
        .answer(status: status, fields: ["Content-Type: application/json; charset=utf-8"], body: body)
    }
}
