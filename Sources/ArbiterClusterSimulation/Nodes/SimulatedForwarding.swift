internal import ArbiterEngine
internal import ArbiterRelay

/// A call on its way from one node to another and back.
final class SimulatedForwarding: Forwarding {
    private struct State {
        var ended: (@Sendable (ForwardingEnd) -> Void)?
        /// The process that was asked; `nil` before that.
        var target: Process?
    }

    private let call: SimulatedCall
    private let address: String
    private let state = Guarded(State())

    init(_ call: SimulatedCall, to address: String) { (self.call, self.address) = (call, address) }

    var ask: Ask { call.ask }
    private var process: Process { call.node.process }
    private var cluster: SimulatedCluster { call.node.cluster }

    func isTo(_ process: Process) -> Bool { state.withLock { $0.target === process } }

    func begin(_ ended: @escaping @Sendable (ForwardingEnd) -> Void) {
        state.withLock { $0.ended = ended }
        guard let target = SimulatedNode.number(at: address).flatMap({ cluster.node($0) }) else {
            // Nothing listens there, so nothing was sent.
            return process.ring(after: .milliseconds(1)) { [self] in
                end(as: .untouched(reason: "nothing listens there"))
            }
        }
        state.withLock { $0.target = target.process }
        call.node.state.withLock { $0.forwardings[ObjectIdentifier(self)] = self }
        let (relays, origin, network) = (call.relays + [process], process, cluster.world.network)
        network.send(from: .node(origin.node), to: .node(target.process.node), in: target.process) { [self] in
            target.take(ask, over: relays) { [self] reply, isUntouched in
                network.send(from: .node(target.process.node), to: .node(origin.node), in: origin) { [self] in
                    hear(reply, isUntouched)
                }
            }
        }
        process.ring(after: ask.question.wait + cluster.settings.relayTimes.answering) { [self] in breakOff() }
    }

    private func hear(_ reply: Reply, _ isUntouched: Bool) {
        if isUntouched {
            end(as: .untouched(reason: "it says that another node does"))
        } else {
            end(as: .answered, with: reply)
        }
    }

    func endBecauseMoved() {
        cluster.signals.post(.counted(.movedCalls))
        if ask.question.onlyReads {
            end(as: .untouched(reason: "another node serves it"))
        } else {
            breakOff()
        }
    }

    /// No answer will come, and the call may have been carried out.
    func breakOff() {
        if cluster.settings.fault == .sendsAgainAfterBreak { end(as: .untouched(reason: "it broke")) }
        guard end(as: .answered, with: .unavailable), let target = state.withLock({ $0.target }) else { return }
        // The connection is closed, and with it a stream that it may have opened.
        let (cluster, number) = (cluster, ask.number)
        cluster.world.timeline.schedule(after: .seconds(5), in: target) {
            cluster.node(target.node)?.loseRelay(of: number)
        }
    }

    /// - Returns: whether it had not ended before.
    @discardableResult
    private func end(as end: ForwardingEnd, with reply: Reply? = nil) -> Bool {
        guard let ended = state.withLock({ $0.ended.take() }) else { return false }
        call.node.state.withLock { $0.forwardings[ObjectIdentifier(self)] = nil }
        if let reply { call.answer(reply) }
        ended(end)
        return true
    }
}
