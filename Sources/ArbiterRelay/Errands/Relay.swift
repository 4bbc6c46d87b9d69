internal import ArbiterCore
package import ArbiterEngine
internal import Synchronization

/// Takes requests that cannot be carried out here and now, and has them carried out: by other nodes, later, or once
/// their sessions are guests.
package final class Relay: Sendable {
    package let shards: Shards
    /// The sessions that are used in several shards; `nil` if there is only one shard.
    package let guests: Guests?
    /// What is under way to other nodes.
    package let open: OpenTransfers
    let times: RelayTimes
    let alarm: any Alarm
    private let time: any TimeSource
    private let observer: @Sendable (Errand.Action) -> Void
    private let hasBegunToDrain = Atomic(false)

    /// - Parameters:
    ///   - shards: what runs here, and where the others are.
    ///   - peers: the other nodes.
    ///   - times: how long nodes wait for each other.
    ///   - alarm: what rings when that is over.
    ///   - reportAlarm: what rings when sessions are reported, which must not wait for the requests that an alarm carries out.
    ///   - time: what those times are counted by.
    ///   - observer: told what is done with each request.
    package init(
        _ shards: Shards, peers: any Peers, times: RelayTimes, alarm: any Alarm = SystemAlarm(),
        reportAlarm: any Alarm = SystemAlarm(), time: any TimeSource = SystemTimeSource(),
        observer: @escaping @Sendable (Errand.Action) -> Void = { _ in }
    ) {
        (self.shards, self.times, self.alarm, self.time, self.observer) = (shards, times, alarm, time, observer)
        open = OpenTransfers(grace: times.grace, alarm: alarm)
        guests = shards.count > 1 ? Guests(shards, peers, lending: times.lending, alarm: reportAlarm) : nil
        shards.observe { [open] in open.note($0) }
    }

    /// Whether it can help a request that is misplaced.
    package func mayHelp(_ misplaced: Misplaced, from origin: Errand.Origin) -> Bool {
        switch misplaced {
        case .elsewhere: origin != .part
        case .needsGuest: guests != nil
        case .untouched: false
        }
    }

    /// Has a request carried out, or refused in the end.
    package func begin(_ request: any RelayedRequest, from origin: Errand.Origin, because misplaced: Misplaced) {
        Runner(request, Errand(from: origin, times), self).take(.misplaced(misplaced))
    }

    /// Holds no request any more, and refuses those of clients.
    package func drain() {
        hasBegunToDrain.store(true, ordering: .releasing)
        shards.releaseAll()
    }

    private var isDraining: Bool { hasBegunToDrain.load(ordering: .acquiring) }

    /// A request, and what is done with it.
    private final class Runner: Sendable {
        private let request: any RelayedRequest
        private let errand: Guarded<Errand>
        private let relay: Relay

        init(_ request: any RelayedRequest, _ errand: Errand, _ relay: Relay) {
            (self.request, self.relay) = (request, relay)
            self.errand = Guarded(errand)
        }

        func take(_ event: Errand.Event) { perform(action(after: event)) }

        private func action(after event: Errand.Event) -> Errand.Action {
            let now = relay.time.now().instant
            let action = errand.withLock { $0.on(event, at: now) }
            relay.observer(action)
            return action
        }

        private func perform(_ action: Errand.Action) {
            switch action {
            case .none: break
            case .carryOut(let mayNeedGuest): carryOut(mayNeedGuest)
            case .lend(let needed): lend(needed)
            case .forward(let owner, let elsewhere): forward(to: owner, elsewhere)
            case .hold(let shard, let asked, let limit): hold(shard, asked, limit)
            case .refuse(let refusal): request.refuse(refusal)
            }
        }

        private func carryOut(_ mayNeedGuest: Bool) {
            if relay.isDraining {
                let action = action(after: .draining)
                guard case .carryOut = action else { return perform(action) }
            }
            take(request.carryOut(mayNeedGuest: mayNeedGuest).map { .misplaced($0) } ?? .answered)
        }

        private func forward(to owner: ClusterMap.Owner, _ elsewhere: Elsewhere) {
            let forwarding = request.forwarding(to: owner, elsewhere)
            let number = relay.open.begin([elsewhere.shard: owner.tenure]) { forwarding.endBecauseMoved() }
            forwarding.begin { [self] end in
                relay.open.end(number)
                switch end {
                case .answered: take(.answered)
                case .untouched(let reason): take(.untouched(reason: reason))
                }
            }
        }

        private func hold(_ shard: Int, _ asked: UInt64?, _ limit: Duration) {
            // Not under the lock of those who say that the shard is served.
            let goOn = { @Sendable [self] in relay.alarm.ring(after: .zero) { [self] in take(.served) } }
            let shards = relay.shards
            // Before the request is held: once it goes on, it may set another action, which this must not replace.
            let client = Guarded((number: Int?.none, hasLeft: false))
            request.whenAbandoned { [self] in
                let number = client.withLock { client in
                    client.hasLeft = true
                    return client.number
                }
                if let number, shards.release(number) { take(.clientLeft) }
            }
            switch shards.hold(HeldRequest(shard: shard, asked: asked, goOn: goOn)) {
            case .served: goOn()
            case .full: take(.full)
            case .held(let number):
                let hasLeft = client.withLock { client in
                    client.number = number
                    return client.hasLeft
                }
                if hasLeft, shards.release(number) { return take(.clientLeft) }
                // The shutdown may have begun just before; then it has not seen this request.
                if relay.isDraining, shards.release(number) { return take(.draining) }
                // What is over keeps no body until the alarm rings.
                relay.alarm.ring(after: limit) { [weak self] in
                    guard let self, shards.release(number) else { return }
                    take(.alarm)
                }
            }
        }

        private func lend(_ needed: GuestNeeded) {
            guard let guests = relay.guests, let engine = relay.shards.place(of: needed.shard).engine else {
                return take(.movedWhileLending)
            }
            guests.admit(needed.session, to: needed.shard, engine, for: request.asker) { [self] result in
                if case .failure(.engine(.notOwner)) = result { take(.movedWhileLending) } else { take(.lent(result)) }
            }
        }
    }
}
