import ArbiterCluster
import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

/// The reads of the owner key before answers.
struct OwnershipRoundsTests {
    @Test func `many reads share few questions to etcd`() throws {
        let etcd = try RunningEtcd()
        let first = TestNode("first", on: etcd.gateway, shards: 1)
        try first.host.wait { $0.shards == [0] }
        let granted = try first.host.start()
        let engine = try #require(first.host.engine(of: 0))
        let before = first.etcd.sent.count
        let answers = Guarded(0)
        try Reply.wait { (completion: @escaping @Sendable (Result<Void, EtcdError>) -> Void) in
            for _ in 0..<500 {
                engine.renew(granted.transition.id, token: granted.transition.token) { _ in
                    let count = answers.withLock { answers in
                        answers += 1
                        return answers
                    }
                    if count == 500 { completion(.success(())) }
                }
            }
        }
        #expect(first.etcd.sent.count - before < 250)
        first.node.stop()
    }
}
