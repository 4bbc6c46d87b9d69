import ArbiterTestKit
import Foundation
import Glibc
import Testing

@testable import ArbiterHTTP

struct UnixSocketTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path + "/arbiterd.sock" }

    init() throws { directory = try TemporaryDirectory() }

    private func listen(_ permissions: SocketPermissions = SocketPermissions()) throws(ListenError) -> ListeningSocket {
        try ListeningSocket(path: path, permissions: permissions)
    }

    private func refusal(_ permissions: SocketPermissions = SocketPermissions()) -> ListenError? {
        do throws(ListenError) {
            _ = try listen(permissions)
            return nil
        } catch {
            return error
        }
    }

    private func mode() throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    @Test(arguments: [
        ("unix:/run/a.sock", ListenAddress.unix(path: "/run/a.sock")),
        ("tls:[::1]:8443", .tls(NetworkAddress(host: "::1", port: 8443))),
        ("localhost:80", .tcp(NetworkAddress(host: "localhost", port: 80))),
    ])
    func `an address says how it is reached`(text: String, expected: ListenAddress) {
        #expect(ListenAddress(text) == expected)
        #expect(expected.description == text)
    }

    @Test(arguments: ["unix:", "unix:relative.sock", "unix:@abstract", "unix:/run/", "tls:/run/a", "tls:", "http:a:80"])
    func `what is no address of a socket is not read`(text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test(arguments: [0o600, 0o660, 0o666] as [UInt32])
    func `its file has the permissions that were asked for`(bits: UInt32) throws {
        let socket = try listen(SocketPermissions(mode: bits))
        #expect(try mode() == Int(bits))
        #expect(socket.address == .unix(path: path))
    }

    @Test func `its file belongs to the group that was asked for`() throws {
        let group = getgid()
        let socket = try listen(SocketPermissions(group: String(group)))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.groupOwnerAccountID] as? UInt32 == group)
        withExtendedLifetime(socket) {}
    }

    @Test func `a group that nobody knows is refused`() {
        #expect(refusal(SocketPermissions(group: "no-such-group"))?.kind == .unknownGroup)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `one on which another listens is refused, and stays usable`() throws {
        let first = try listen()
        #expect(refusal()?.kind == .unavailable)
        _ = try WireClient(path: path)
        withExtendedLifetime(first) {}
    }

    @Test func `one of another program is refused`() throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        #expect(bind(descriptor, to: path) == 0)
        #expect(Glibc.listen(descriptor, 1) == 0)
        let error = try #require(refusal())
        #expect(error.reason == "another process listens on unix:\(path)")
    }

    @Test func `one on which nobody listens is taken over`() throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #expect(bind(descriptor, to: path) == 0)
        close(descriptor)
        let taken = try listen()
        _ = try WireClient(path: path)
        withExtendedLifetime(taken) {}
    }

    @Test func `a file that is no socket is left alone`() throws {
        try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
        #expect(refusal()?.kind == .unavailable)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    }

    @Test func `a path that is too long is refused`() throws {
        let path = directory.path + "/" + String(repeating: "x", count: 108)
        do throws(ListenError) {
            _ = try ListeningSocket(path: path, permissions: SocketPermissions())
            Issue.record("it is listened on")
        } catch {
            #expect(error.reason.contains("File name too long"))
        }
    }

    @Test func `its file goes with it, but one that replaced it stays`() throws {
        do { _ = try listen() }
        #expect(!FileManager.default.fileExists(atPath: path))
        do {
            let socket = try listen()
            try FileManager.default.removeItem(atPath: path)
            try Data().write(to: URL(fileURLWithPath: path))
            withExtendedLifetime(socket) {}
        }
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func `a listening socket is inherited, and nothing else`() throws {
        let socket = try listen()
        let copy = dup(socket.descriptor)
        let inherited = try ListeningSocket(inherited: copy, isEncrypted: false, beyondLoopback: false)
        #expect(inherited.address == .unix(path: path))
        #expect(inherited.isInherited)
        let tcp = try ListeningSocket(NetworkAddress(host: "127.0.0.1", port: 0), beyondLoopback: false)
        let second = try ListeningSocket(inherited: dup(tcp.descriptor), isEncrypted: true, beyondLoopback: false)
        #expect(second.address.port == tcp.address.port)
        #expect(second.address.url.hasPrefix("https://127.0.0.1:"))
        let file = unsafe open("/dev/null", O_RDONLY)
        defer { close(file) }
        do throws(ListenError) {
            _ = try ListeningSocket(inherited: file, isEncrypted: false, beyondLoopback: false)
            Issue.record("a file is listened on")
        } catch {
            #expect(error.kind == .notASocket)
        }
    }

    @Test func `the system says which user connects, with all of its groups`() throws {
        let listening = try listen()
        let client = try WireClient(path: path)
        let accepted = accept(listening.descriptor, nil, nil)
        defer { close(accepted) }
        let user = try #require(LocalUser(of: accepted))
        #expect(user.user == getuid())
        var groups = [gid_t](repeating: 0, count: 65_536)
        let count = unsafe getgroups(Int32(groups.count), &groups)
        #expect(user.groups == Set(groups.prefix(Int(count)) + [getegid()]))
        #expect(Peer(of: accepted, at: listening.address) == .local(user))
        client.close()
    }

    @Test func `a TCP connection has an address and no user`() throws {
        let listening = try ListeningSocket(NetworkAddress(host: "127.0.0.1", port: 0), beyondLoopback: false)
        let client = try WireClient(port: try #require(listening.address.port))
        let accepted = accept(listening.descriptor, nil, nil)
        defer { close(accepted) }
        #expect(LocalUser(of: accepted) == nil)
        #expect(Peer(of: accepted, at: listening.address) == .network(address: "127.0.0.1"))
        client.close()
    }

    private func bind(_ descriptor: Int32, to path: String) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        return unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe Glibc.bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
