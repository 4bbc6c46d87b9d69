import ArbiterTestKit
import Glibc
import Testing

@testable import ArbiterHTTP

struct AcceptorTests {
    private let loop = ServingLoop()
    private let acceptor: Acceptor
    private let listening: Int32
    private let port: UInt16

    init() throws {
        acceptor = Acceptor(on: loop)
        loop.start()
        let socket = try ListeningSocket(NetworkAddress(host: "127.0.0.1", port: 0), beyondLoopback: false)
        guard case .tcp(let address) = socket.address else { preconditionFailure("it is a TCP socket") }
        port = address.port
        listening = socket.release().descriptor
    }

    /// The connections that are taken from now on, and the key for `end`.
    private func begin() -> (AsyncStream<AcceptedConnection>.Iterator, UInt64) {
        let (stream, continuation) = AsyncStream<AcceptedConnection>.makeStream()
        let key = acceptor.begin(listening) { continuation.yield($0) }
        return (stream.makeAsyncIterator(), key)
    }

    @Test func `a socket that is left alone keeps its connections for the next one`() async throws {
        var (first, key) = begin()
        let one = try WireClient(port: port)
        let taken = try #require(await first.next())
        #expect(fcntl(taken.descriptor, F_GETFD) == FD_CLOEXEC)
        acceptor.end(key)
        // To end it twice changes nothing.
        acceptor.end(key)
        let other = try WireClient(port: port)
        var (second, next) = begin()
        let later = try #require(await second.next())
        #expect(later.descriptor != taken.descriptor)
        acceptor.end(next)
        loop.stop()
        withExtendedLifetime((one, other)) {}
        for descriptor in [taken.descriptor, later.descriptor, listening] { close(descriptor) }
    }
}
