import ArbiterCluster
import ArbiterCore
import ArbiterEngine
import ArbiterRelay
import ArbiterTestKit
import Dispatch
import Testing

/// A node while etcd has hardly any room, or none.
struct EtcdRoomTests {
    @Test func `the host is told when etcd has hardly any room`() throws {
        let etcd = try RunningEtcd()
        let first = TestNode("first", on: etcd.gateway, shards: 1)
        try first.host.wait { $0.rooms.last == .enough }
        first.node.stop()
        // Less than the file of an empty etcd, and then less than its pages in use.
        let size = try Reply.wait { etcd.gateway.measure(within: .seconds(30), completion: $0) }
        #expect(0 < size.used && size.used <= size.file)
        let second = TestNode("second", on: etcd.gateway, shards: 1, quota: size.used)
        try second.host.wait { $0.rooms.last == .short }
        second.node.stop()
    }

    @Test func `the file of etcd warns, and what is in use of it stops admission`() {
        #expect(EtcdRoom(StoredSize(file: 599, used: 599), of: 1000) == .enough)
        #expect(EtcdRoom(StoredSize(file: 600, used: 10), of: 1000) == .low)
        #expect(EtcdRoom(StoredSize(file: 1000, used: 799), of: 1000) == .low)
        #expect(EtcdRoom(StoredSize(file: 800, used: 800), of: 1000) == .short)
    }

    @Test func `while etcd has no room, requests are refused, and parked ones are answered afterwards`() throws {
        let etcd = try RunningEtcd()
        let first = TestNode("first", on: etcd.gateway, shards: 1)
        try first.host.wait { $0.shards == [0] }
        let holder = try first.host.start()
        let engine = try #require(first.host.engine(of: 0))
        let granted = Grants()
        engine.serialize(TransitionRequest(), wait: .seconds(100)) { granted.note($0) }
        first.etcd.decide { $0.success.count == 2 ? .refused : .answered }
        let ended = Result {
            try Reply.wait {
                engine.end(holder.transition.id, token: holder.transition.token, as: nil, completion: $0)
            }
        }
        guard case .failure(let error as EngineError) = ended, case .journalUnavailable(let reason) = error else {
            Issue.record("\(ended)")
            return
        }
        #expect(reason.kind == .stalled)
        #expect(throws: EngineError.self) { try first.host.start() }
        #expect(granted.count == 0)
        first.etcd.decide { _ in .answered }
        try granted.wait()
        first.node.stop()
    }

    @Test func `a connection that closes while etcd has no room is noted afterwards, and nobody else has lost time`()
        throws
    {
        let etcd = try RunningEtcd()
        let first = TestNode("first", on: etcd.gateway, shards: 1)
        try first.host.wait { $0.shards == [0] }
        let engine = try #require(first.host.engine(of: 0))
        let sessions = try (0..<2).map { _ in
            try Reply.wait { engine.openSession(client: nil, timeToLive: .seconds(2), completion: $0) }.session.token
        }
        let attachment = try Reply.wait { engine.attach(sessions[0], completion: $0) }
        first.etcd.decide { $0.success.count == 2 ? .refused : .answered }
        #expect(throws: EngineError.self) { try first.host.start() }
        engine.detach(attachment, client: .present)
        // The other session is over by the clock, and its client's words are refused.
        first.host.time.advance(by: .seconds(3))
        #expect(throws: EngineError.self) { try Reply.wait { engine.renewSession(sessions[1], completion: $0) } }
        first.etcd.decide { _ in .answered }
        #expect(eventually { engine.isAvailable })
        #expect(try Reply.wait { engine.renewSession(sessions[1], completion: $0) }.session.token == sessions[1])
        first.host.time.advance(by: .seconds(3))
        #expect(eventually { engine.inspect { !$0.knows(sessions[0]) } })
        first.node.stop()
    }

    /// The answers of a request that is parked.
    final class Grants: Sendable {
        private let state = Guarded(0)
        private let arrival = DispatchSemaphore(value: 0)

        var count: Int { state.withLock { $0 } }

        func note(_ result: Result<TransitionView, EngineError>) {
            guard case .success = result else { return }
            state.withLock { $0 += 1 }
            arrival.signal()
        }

        func wait() throws {
            guard arrival.wait(timeout: .now() + .seconds(30)) == .success else {
                throw EtcdError(.unknown, "no grant came")
            }
        }
    }
}
