import ArbiterEngine
import ArbiterTestKit
import Foundation
import Glibc
import Testing

@testable import ArbiterHTTP

/// When a stream's connection is suspended and resumed; nothing is lost in between.
final class MicroHTTPDStreamTests {
    private let connection = try? SocketPair()
    private let loop = ServingLoop()

    init() { loop.start() }

    deinit { loop.stop() }

    private func stream(_ source: any StreamSource) throws -> (MicroHTTPDStream, SocketPair) {
        let connection = try #require(connection)
        return (
            MicroHTTPDStream(
                connection: connection, peer: WatchedPeer(connection.descriptor, loop: loop), source: source),
            connection
        )
    }

    @Test func `what is there is sent, and where nothing is the connection sleeps until it is woken`() throws {
        let source = ScriptedSource([.bytes([1]), .nothing, .bytes([2]), .nothing])
        let (stream, connection) = try stream(source)
        #expect(stream.read(upTo: 9) == .bytes([1]))
        #expect(connection.counts == [0, 0])
        #expect(stream.read(upTo: 9) == .nothing)
        #expect(connection.counts == [1, 0])
        stream.wake()
        #expect(connection.counts == [1, 1])
        #expect(stream.read(upTo: 9) == .bytes([2]))
        #expect(stream.read(upTo: 9) == .nothing)
        #expect(connection.counts == [2, 1])
    }

    @Test func `a wake that comes before the connection sleeps is not lost`() throws {
        let source = ScriptedSource([.nothing, .bytes([1]), .nothing])
        let (stream, connection) = try stream(source)
        source.afterFirstRead { stream.wake() }
        #expect(stream.read(upTo: 9) == .bytes([1]))
        #expect(connection.counts == [0, 0])
        #expect(stream.read(upTo: 9) == .nothing)
        #expect(connection.counts == [1, 0])
    }

    @Test func `only one of many wakes resumes`() throws {
        let (stream, connection) = try stream(ScriptedSource([.nothing]))
        stream.wake()
        #expect(stream.read(upTo: 9) == .nothing)
        for _ in 0..<3 { stream.wake() }
        #expect(connection.counts == [1, 1])
    }

    @Test func `a wake or a cut after the end touches nothing`() throws {
        let source = ScriptedSource([.end])
        let (stream, connection) = try stream(source)
        stream.begin()
        #expect(stream.read(upTo: 9) == .end)
        stream.finish()
        stream.wake()
        stream.cut()
        stream.finish()
        #expect(connection.counts == [0, 0])
        #expect(!connection.isShutDown)
        #expect(source.closings == 1)
    }

    @Test func `a cut wakes a stream that sleeps`() throws {
        let (stream, connection) = try stream(ScriptedSource([.nothing, .cut]))
        #expect(stream.read(upTo: 9) == .nothing)
        stream.cut()
        #expect(connection.isShutDown)
        #expect(connection.counts == [1, 1])
        #expect(stream.read(upTo: 9) == .cut)
    }

    @Test func `a peer that closes ends the stream, and closes its source once`() throws {
        let source = ScriptedSource([.nothing])
        let (stream, connection) = try stream(source)
        stream.begin()
        #expect(stream.read(upTo: 9) == .nothing)
        connection.closePeer()
        #expect(eventually { connection.counts == [1, 1] })
        #expect(source.closings == 1)
        #expect(stream.read(upTo: 9) == .end)
        stream.finish()
        #expect(source.closings == 1)
    }

    @Test func `a peer that has closed already is noticed`() throws {
        let source = ScriptedSource([.nothing])
        let (stream, connection) = try stream(source)
        connection.closePeer()
        stream.begin()
        #expect(eventually { source.closings == 1 })
        #expect(stream.read(upTo: 9) == .end)
    }

    @Test func `a body that has an end is sent to a peer that has closed its side`() throws {
        let source = DocumentSource([1], JSONDocument([], keeping: 0))
        let (stream, connection) = try stream(source)
        connection.closePeer()
        stream.begin()
        // The loop reports closes in order, so when it has reported this one, it would have reported the first.
        let other = try SocketPair()
        let isNoticed = Guarded(false)
        let peer = WatchedPeer(other.descriptor, loop: loop)
        peer.watch { isNoticed.withLock { $0 = true } }
        other.closePeer()
        #expect(eventually { isNoticed.withLock { $0 } })
        #expect(stream.read(upTo: 9) == .bytes([1]))
        #expect(stream.read(upTo: 9) == .end)
    }

    @Test func `whoever wakes while it falls asleep is seen`() throws {
        let counter = CountingSource()
        let (stream, connection) = try stream(counter)
        let wakers = (0..<2).map { _ in
            let done = DispatchSemaphore(value: 0)
            Thread {
                for _ in 0..<20_000 {
                    counter.add()
                    stream.wake()
                }
                done.signal()
            }.start()
            return done
        }
        var read = 0
        while read < 40_000 {
            switch stream.read(upTo: 9) {
            case .bytes(let bytes): read += bytes.count
            default: try #require(eventually { connection.isAwake }, "nobody woke it behind \(read)")
            }
        }
        for waker in wakers { waker.wait() }
        #expect(connection.faults == 0)
    }
}

/// A connection that counts calls, on a socket with a peer.
private final class SocketPair: StreamConnection {
    private struct State {
        var suspensions = 0
        var resumptions = 0
        var isShutDown = false
        var faults = 0
    }

    private struct NoSockets: Error {}

    let descriptor: Int32
    private let peer: Guarded<Int32>
    private let state = Guarded(State())

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { throw NoSockets() }
        descriptor = ends[0]
        peer = Guarded(ends[1])
    }

    deinit {
        close(descriptor)
        closePeer()
    }

    func closePeer() {
        peer.withLock { peer in
            if peer >= 0 { close(peer) }
            peer = -1
        }
    }

    func limitSending(to bytes: Int32, within milliseconds: Int32) {}

    func suspend() {
        state.withLock { state in
            if state.suspensions > state.resumptions { state.faults += 1 }
            state.suspensions += 1
        }
    }

    func resume() {
        state.withLock { state in
            if state.resumptions == state.suspensions { state.faults += 1 }
            state.resumptions += 1
        }
    }

    func shutDown() {
        state.withLock { $0.isShutDown = true }
    }

    /// How often it was suspended, and how often resumed.
    var counts: [Int] { state.withLock { [$0.suspensions, $0.resumptions] } }
    var isAwake: Bool { state.withLock { $0.suspensions == $0.resumptions } }
    var isShutDown: Bool { state.withLock { $0.isShutDown } }
    /// How often it was suspended while suspended, or resumed while not.
    var faults: Int { state.withLock { $0.faults } }
}

/// A source of these pieces; it repeats the last one for ever.
private final class ScriptedSource: StreamSource {
    private struct State {
        var pieces: ArraySlice<StreamPiece>
        var closings = 0
        var action: (@Sendable () -> Void)?
    }

    private let state: Guarded<State>

    init(_ pieces: [StreamPiece]) {
        state = Guarded(State(pieces: pieces[...]))
    }

    var closings: Int { state.withLock { $0.closings } }

    /// Called after the source has answered, before the stream gets the answer.
    func afterFirstRead(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.action = action }
    }

    func read(upTo count: Int) -> StreamPiece {
        let (piece, action) = state.withLock { state in
            let piece = state.pieces.count > 1 ? state.pieces.removeFirst() : state.pieces.first ?? .nothing
            return (piece, state.action.take())
        }
        action?()
        return piece
    }

    func close() {
        state.withLock { $0.closings += 1 }
    }
}

/// A source with as many bytes as have been added.
private final class CountingSource: StreamSource {
    private let available = Guarded(0)

    func add() {
        available.withLock { $0 += 1 }
    }

    func read(upTo count: Int) -> StreamPiece {
        available.withLock { available in
            let taken = min(count, available)
            available -= taken
            return taken == 0 ? .nothing : .bytes(ArraySlice(repeating: 0, count: taken))
        }
    }

    func close() {}
}
