import ArbiterTestKit
import Glibc
import Testing

@testable import ArbiterHTTP

struct ListeningSocketTests {
    @Test(
        arguments: [
            ("127.0.0.1:8080", "127.0.0.1", 8080), ("localhost:0", "localhost", 0), ("[::1]:65535", "::1", 65535),
            ("[fe80::1%eth0]:1", "fe80::1%eth0", 1), ("0.0.0.0:80", "0.0.0.0", 80),
            ("a-b.example:007", "a-b.example", 7),
        ] as [(String, String, UInt16)])
    func `an address is read`(text: String, host: String, port: UInt16) throws {
        let address = try #require(NetworkAddress(text))
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(NetworkAddress(address.description) == address)
    }

    @Test(arguments: [
        "", ":", "8080", ":8080", "localhost", "localhost:", "localhost:65536", "localhost:-1", "localhost:x",
        "localhost:80 ", "localhost: 80", "::1:8080", "[::1]", "[]:80", "[::1]8080", "http://localhost:80/", "a:b:80",
    ])
    func `what is no address is not read`(text: String) {
        #expect(NetworkAddress(text) == nil)
    }

    @Test func `an address writes itself as it is read`() {
        #expect(NetworkAddress(host: "::1", port: 80).description == "[::1]:80")
        #expect(NetworkAddress(host: "127.0.0.1", port: 80).description == "127.0.0.1:80")
    }

    @Test func `a socket says which port the system chose`() throws {
        let socket = try ListeningSocket(NetworkAddress(host: "127.0.0.1", port: 0), beyondLoopback: false)
        let port = try #require(socket.address.port)
        #expect(port > 0)
        #expect(socket.address == .tcp(NetworkAddress(host: "127.0.0.1", port: port)))
    }

    @Test func `a port that is taken is not available`() throws {
        let taken = try ListeningSocket(NetworkAddress(host: "127.0.0.1", port: 0), beyondLoopback: false)
        let port = try #require(taken.address.port)
        #expect(try kind(of: NetworkAddress(host: "127.0.0.1", port: port)) == .unavailable)
    }

    @Test(arguments: [
        ("0.0.0.0", ListenError.Kind.notLoopback), ("::", .notLoopback), ("192.0.2.1", .notLoopback),
        ("name with spaces", .unknownHost),
    ])
    func `an address that may not be listened on is refused`(host: String, expected: ListenError.Kind) throws {
        #expect(try kind(of: NetworkAddress(host: host, port: 0)) == expected)
    }

    @Test func `an address that is not ours cannot be listened on`() throws {
        // An address of TEST-NET-1 (RFC 5737), which no machine has.
        #expect(try kind(of: NetworkAddress(host: "192.0.2.1", port: 0), beyondLoopback: true) == .unavailable)
    }

    @Test func `beyond loopback is listened on where that is allowed`() throws {
        let socket = try ListeningSocket(NetworkAddress(host: "0.0.0.0", port: 0), beyondLoopback: true)
        #expect(try #require(socket.address.port) > 0)
    }

    @Test func `a connection asks a silent peer after 15 seconds, and three times`() throws {
        let listening = try ListeningSocket(NetworkAddress(host: "127.0.0.1", port: 0), beyondLoopback: false)
        let client = try WireClient(port: try #require(listening.address.port))
        defer { client.close() }
        let accepted = accept(listening.descriptor, nil, nil)
        defer { close(accepted) }
        func option(_ level: Int32, _ name: Int32) -> Int32 {
            var value: Int32 = -1
            var size = socklen_t(MemoryLayout<Int32>.size)
            unsafe getsockopt(accepted, level, name, &value, &size)
            return value
        }
        #expect(option(SOL_SOCKET, SO_KEEPALIVE) == 1)
        #expect(option(Int32(IPPROTO_TCP), TCP_KEEPIDLE) == 15)
        #expect(option(Int32(IPPROTO_TCP), TCP_KEEPINTVL) == 5)
        #expect(option(Int32(IPPROTO_TCP), TCP_KEEPCNT) == 3)
    }

    private func kind(of address: NetworkAddress, beyondLoopback: Bool = false) throws -> ListenError.Kind? {
        do throws(ListenError) {
            let socket = try ListeningSocket(address, beyondLoopback: beyondLoopback)
            Issue.record("\(address) is listened on at \(socket.address)")
            return nil
        } catch {
            #expect(!error.reason.isEmpty)
            return error.kind
        }
    }
}
