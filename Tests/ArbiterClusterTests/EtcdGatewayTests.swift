import ArbiterCluster
import ArbiterTestKit
import ArbiterTransfers
import Glibc
import Testing

/// The JSON gateway of a real etcd.
struct EtcdGatewayTests {
    @Test func `a transaction compares, writes, reads and deletes`() throws {
        let etcd = try RunningEtcd()
        let first = try etcd.transact(
            EtcdTransaction(
                if: [.isAbsent("a")], then: [.put("a", [0, 255, 10]), .put("b", [])], else: [.read(.key("a"))]))
        #expect(first.succeeded && first.found.isEmpty)
        let second = try etcd.transact(
            EtcdTransaction(if: [.isAbsent("a")], then: [.put("a", [1])], else: [.read(.key("a"))]))
        #expect(!second.succeeded)
        #expect(
            second.found == [
                EtcdKeys([EtcdKey(name: "a", value: [0, 255, 10], created: first.revision, changed: first.revision)])
            ])
        let third = try etcd.transact(
            EtcdTransaction(
                if: [.created("a", at: first.revision), .changed("b", at: first.revision), .holds("a", [0, 255, 10])],
                then: [.delete(.prefix("a")), .read(.keys(from: "a", to: "c"))]))
        #expect(third.succeeded)
        #expect(third.found.map { $0.keys.map(\.name) } == [["b"]])
    }

    @Test func `a transaction within another one has its own conditions, and all are of the same revision`() throws {
        let etcd = try RunningEtcd()
        let outcome = try etcd.transact(
            EtcdTransaction(then: [
                .nested(EtcdTransaction(if: [.isAbsent("a")], then: [.put("a", [1])])),
                .nested(
                    EtcdTransaction(
                        if: [.created("a", at: 1)], then: [.put("b", [1])], else: [.read(.key("a")), .read(.key("b"))])),
                .nested(EtcdTransaction(if: [.isAbsent("a")], then: [.put("c", [1])])),
            ]))
        #expect(outcome.succeeded && outcome.found.isEmpty)
        // The last condition was compared before the first one had its effect.
        #expect(outcome.nested.map(\.succeeded) == [true, false, true])
        #expect(outcome.nested.map(\.revision) == Array(repeating: outcome.revision, count: 3))
        #expect(outcome.nested[1].found.map { $0.keys.map(\.name) } == [["a"], []])
        let found = try etcd.transact(.read(.keys(from: "a", to: "z"))).found
        #expect(found.first?.keys.map(\.name) == ["a", "c"])
        #expect(found.first?.keys.map(\.created) == [outcome.revision, outcome.revision])
    }

    @Test func `a read is limited, and says that there is more`() throws {
        let etcd = try RunningEtcd()
        for name in ["k/1", "k/2", "k/3", "l"] { _ = try etcd.transact(EtcdTransaction(then: [.put(name, [7])])) }
        var range = EtcdRange.prefix("k/")
        range.limit = 2
        range.keysOnly = true
        let found = try etcd.transact(.read(range)).found
        #expect(found.map { $0.keys.map(\.name) } == [["k/1", "k/2"]])
        #expect(found.map(\.hasMore) == [true])
        #expect(found.first?.keys.allSatisfy(\.value.isEmpty) == true)
    }

    @Test func `a key lives as long as its lease`() throws {
        let etcd = try RunningEtcd()
        let lease = try Reply.wait { etcd.gateway.grantLease(for: .seconds(60), within: .seconds(30), completion: $0) }
        _ = try etcd.transact(EtcdTransaction(then: [.put("a", [1], lease: lease)]))
        #expect(try Reply.wait { etcd.gateway.keepAlive(lease, within: .seconds(30), completion: $0) })
        try Reply.wait { etcd.gateway.revokeLease(lease, within: .seconds(30), completion: $0) }
        #expect(try etcd.transact(.read(.key("a"))).found == [EtcdKeys([])])
        #expect(try !Reply.wait { etcd.gateway.keepAlive(lease, within: .seconds(30), completion: $0) })
        let error = #expect(throws: EtcdError.self) {
            try etcd.transact(EtcdTransaction(then: [.put("a", [1], lease: lease)]))
        }
        #expect(error?.kind == .leaseNotFound)
    }

    @Test func `what etcd refuses was certainly not carried out`() throws {
        let etcd = try RunningEtcd()
        let error = #expect(throws: EtcdError.self) {
            try etcd.transact(EtcdTransaction(then: [.put("a", [1]), .put("a", [2])]))
        }
        #expect(error?.kind == .refused)
        let future = #expect(throws: EtcdError.self) {
            try Reply.wait { etcd.gateway.compact(to: 1000, within: .seconds(30), completion: $0) }
        }
        #expect(future?.kind == .refused)
    }

    @Test(arguments: ["{}", #"{"header": {"revision": "7"}, "succeeded": true}"#])
    func `an answer that lacks what was asked for is unknown`(answer: String) {
        let server = StubServer { _ in .answer(status: 200, body: answer) }
        let loop = TransferLoop()
        defer {
            loop.closeAndWait()
            server.stop()
        }
        let gateway = EtcdGateway(EtcdGateway.Access(endpoints: [server.address]), loop: loop)
        let error = #expect(throws: EtcdError.self) {
            try Reply.wait { gateway.transact(.read(.key("a")), within: .seconds(30), completion: $0) }
        }
        #expect(error?.kind == .unknown)
    }

    @Test func `a full etcd says so`() throws {
        let etcd = try RunningEtcd(["--quota-backend-bytes", "100000"])
        let error = #expect(throws: EtcdError.self) {
            for number in 0..<100 {
                _ = try etcd.transact(EtcdTransaction(then: [.put("k\(number)", Array(repeating: 1, count: 10_000))]))
            }
        }
        #expect(error?.kind == .outOfSpace)
    }

    @Test func `where nobody listens, the next member is asked`() throws {
        let etcd = try RunningEtcd()
        let loop = TransferLoop()
        defer { loop.close() }
        let gateway = EtcdGateway(.init(endpoints: ["http://127.0.0.1:1", etcd.process.endpoint]), loop: loop)
        let error = #expect(throws: EtcdError.self) {
            try Reply.wait { gateway.transact(.read(.key("a")), within: .seconds(30), completion: $0) }
        }
        #expect(error?.kind == .unreachable)
        let found = try Reply.wait { gateway.transact(.read(.key("a")), within: .seconds(30), completion: $0) }
        #expect(found.found == [EtcdKeys([])])
    }

    @Test func `what a member that is stopped was sent may have been carried out`() throws {
        let etcd = try RunningEtcd()
        _ = try etcd.transact(EtcdTransaction(then: [.put("a", [1])]))
        try etcd.process.pause()
        defer { etcd.process.process.signal(SIGCONT) }
        let error = #expect(throws: EtcdError.self) {
            try Reply.wait {
                etcd.gateway.transact(
                    EtcdTransaction(then: [.put("a", [2])]), within: .milliseconds(300), completion: $0)
            }
        }
        #expect(error?.kind == .unknown)
    }

    @Test func `a user is authenticated, and again when the token has run out`() throws {
        let etcd = try RunningEtcd(["--auth-token", "simple"])
        for (path, body) in [
            ("auth/user/add", #"{"name":"root","password":"secret"}"#),
            ("auth/user/grant", #"{"user":"root","role":"root"}"#), ("auth/enable", "{}"),
        ] { try etcd.post(path, body) }
        let anonymous = #expect(throws: EtcdError.self) { try etcd.transact(.read(.key("a"))) }
        #expect(anonymous.map { [.refused, .denied].contains($0.kind) } == true)
        let user = EtcdGateway.Access.User(name: "root", password: "secret")
        let gateway = EtcdGateway(.init(endpoints: [etcd.process.endpoint], user: user), loop: etcd.loop)
        let outcome = try Reply.wait {
            gateway.transact(EtcdTransaction(then: [.put("a", [1])]), within: .seconds(30), completion: $0)
        }
        #expect(outcome.succeeded)
        let wrong = EtcdGateway(
            .init(endpoints: [etcd.process.endpoint], user: .init(name: "root", password: "wrong")), loop: etcd.loop)
        let error = #expect(throws: EtcdError.self) {
            try Reply.wait { wrong.transact(.read(.key("a")), within: .seconds(30), completion: $0) }
        }
        #expect(error?.kind == .denied)
    }
}
