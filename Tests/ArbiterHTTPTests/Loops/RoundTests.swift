import ArbiterCore
import ArbiterTestKit
import Dispatch
import Testing

@testable import ArbiterEngine
@testable import ArbiterHTTP

/// The requests that a loop finds in one round.
struct RoundTests {
    private let journal = GatheringJournal()
    private let server: LoopbackServer

    init() throws { server = try LoopbackServer(parked: 100, journal: journal) }

    /// Sends requests while the loop is busy, so that it finds all of them in its next round.
    private func inOneRound(_ count: Int, _ send: (WireClient, Int) throws -> Void) throws -> [WireClient] {
        let clients = try (0..<count).map { _ in try server.connect() }
        // Each has been served once.
        for client in clients { _ = try client.request("GET", "/healthz") }
        let (isBusy, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        server.loops.first.perform {
            isBusy.signal()
            goOn.wait()
        }
        isBusy.wait()
        defer { goOn.signal() }
        for (number, client) in clients.enumerated() { try send(client, number) }
        return clients
    }

    /// libmicrohttpd asks a handler again that has returned without an answer, and without suspending the connection.
    @Test func `the requests of a round are committed together, and each is answered`() throws {
        let count = 20
        let clients = try inOneRound(count) { client, number in
            try client.send("POST", "/transitions/start", body: #"{"scene": "\#(number)"}"#)
        }
        for client in clients { #expect(try client.receive().status == 201) }
        // The first one may have been alone, as far as the loop knew.
        #expect(journal.groups.max() ?? 0 >= count - 1)
        #expect(journal.groups.reduce(0, +) == count)
    }

    @Test func `one of them that waits is answered when another one ends what it waits for`() throws {
        let holder = try server.connect()
        let held = try holder.request("POST", "/transitions/start")
        let end = #"{"id": "\#(try #require(held["id"].string))", "token": "\#(try #require(held["token"].string))"}"#
        let clients = try inOneRound(2) { client, number in
            if number == 0 {
                try client.send("POST", "/transitions/serialize?wait=60")
            } else {
                try client.send("POST", "/transitions/end", body: end)
            }
        }
        #expect(try clients[1].receive().status == 200)
        #expect(try clients[0].receive()["state"] == "running")
    }

    @Test func `a listener stops also if some of its connections wait`() throws {
        let socket = try ListeningSocket(NetworkAddress(host: "127.0.0.1", port: 0), beyondLoopback: false)
        let port = try #require(socket.address.port)
        let listener = try MicroHTTPDListener(
            socket, server: server.server, identity: nil, connectionLimit: 10)
        let holder = try server.connect().request("POST", "/transitions/start")
        let waiting = try WireClient(port: port)
        try waiting.send("POST", "/transitions/serialize?wait=60")
        #expect(server.parks(1))
        listener.stop()
        #expect(throws: (any Error).self) { try waiting.receive() }
        let (id, token) = try (#require(holder["id"].string), #require(holder["token"].string))
        let ended = try server.connect().request(
            "POST", "/transitions/end", body: #"{"id": "\#(id)", "token": "\#(token)"}"#)
        #expect(ended["state"] == "ended")
    }
}

/// A journal that counts what is committed together, by the thread that flushes.
private final class GatheringJournal: Journal {
    private struct State {
        var last: UInt64 = 0
        var gathered = 0
        var groups: [Int] = []
        var tell: (@Sendable (Result<UInt64, JournalError>) -> Void)?
    }

    private let state = Guarded(State())

    /// How many records each commit had.
    var groups: [Int] { state.withLock { $0.groups } }

    func contents() throws(JournalError) -> JournalContents {
        JournalContents(snapshot: nil, records: [], ending: .closed)
    }

    func begin(_ committed: @escaping @Sendable (Result<UInt64, JournalError>) -> Void) {
        state.withLock { $0.tell = committed }
    }

    func append(_ entry: JournalEntry) -> Bool {
        state.withLock { state in
            state.last = entry.sequence
            state.gathered += 1
        }
        return false
    }

    func flush(mayCommit: Bool) {
        let (last, tell) = state.withLock { state -> (UInt64, (@Sendable (Result<UInt64, JournalError>) -> Void)?) in
            guard state.gathered > 0 else { return (0, nil) }
            state.groups.append(state.gathered)
            state.gathered = 0
            return (state.last, state.tell)
        }
        tell?(.success(last))
    }

    func close() {}

    var ownership: (any Ownership)? { nil }
}
