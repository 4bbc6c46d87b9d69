internal import ArbiterCore
internal import ArbiterModel
internal import ArbiterTestKit

// The requests for transitions and scenes that clients make.

extension Simulation {
    private static let scenes = ["main", "left", "right", "rare", "rarer", "pool"].compactMap(SceneName.init)
    private static let places = ["one", "two", "three", "four"].compactMap(ControllerID.init)
    private static let keys = ["selection", "scroll"].compactMap(CoalescingKey.init)
    static let names = ["view-0", "view-1", "view-2", "view-3", "view-4", "view-5"].compactMap(ClientName.init)

    /// Whether a scene is declared with stacks side by side, and its requests mostly lock one of them.
    private static func isWide(_ scene: SceneName) -> Bool { scene == scenes[1] || scene == scenes[2] }

    mutating func someScene() -> SceneName {
        if isCrowded, !chance.isOnce(in: 8) { return Self.scenes[1] }
        let index =
            switch Int.random(in: 0..<20, using: &chance) {
            case 0: Int.random(in: 3..<5, using: &chance)
            case 1..<9: 0
            case 9: 5
            case 10..<16: 1
            default: 2
            }
        return Self.scenes[index]
    }

    private mutating func someRequest(of client: Int) -> TransitionRequest {
        let name = someScene()
        let scene = oracle.scene(name)
        var request = TransitionRequest(scene: name)
        if !chance.isOnce(in: 5), !scene.tree.nodes.isEmpty || chance.isOnce(in: 8) {
            request.operation = chance.operation(in: scene, wanted: oracle.missing(in: name))
        }
        if !scene.tree.nodes.isEmpty { request.scope = chance.scope(in: scene.tree, for: request.operation) }
        if !scene.tree.nodes.isEmpty, chance.isOnce(in: 16) {
            // Its operation is on a controller that does not exist yet; the controllers that it lists exist.
            request.operation = chance.operation(onAbsent: scene.tree)
            request.scope = chance.list(in: scene.tree)
        }
        if Self.isWide(name), !chance.isOnce(in: 6) { narrow(&request, in: scene) }
        if chance.isOnce(in: 3) { request.priority = chance.priority() }
        if chance.isOnce(in: 8) { request.highestPriority = chance.priority() }
        if chance.isOnce(in: 2) { request.interruptibility = chance.interruptibility() }
        if chance.isOnce(in: 4) {
            request.interrupts = true
            if chance.isOnce(in: 2) { request.priority = max(chance.priority(), chance.priority()) }
        }
        if !isCrowded || chance.isOnce(in: 8) { request.expectations = chance.expectations(of: scene) }
        request.animation = chance.animation(of: scene.storyboard.transitionTypes.map(\.name))
        request.onExpiry = chance.isOnce(in: 3) ? .complete : .discard
        request.ticket = max(chance.milliseconds(upTo: 10_000), Limits.ticketDurations.lowerBound)
        request.queue = chance.isOnce(in: 4) ? chance.milliseconds(upTo: chance.isOnce(in: 6) ? 0 : 8_000) : nil
        if chance.isOnce(in: 6) { waitForState(&request, in: scene) }
        if !chance.isOnce(in: 4) {
            let lease = chance.isOnce(in: 200) ? 300_000 : chance.isOnce(in: 4) ? 500 : 6_000
            request.lease = max(chance.milliseconds(upTo: lease), Limits.leaseDurations.lowerBound)
        }
        if chance.isOnce(in: 8) {
            request.maxHold = max(chance.milliseconds(upTo: 8_000), Limits.holdDurations.lowerBound)
        }
        if chance.isOnce(in: 3) {
            request.isInteractive = true
            request.policy = chance.isOnce(in: 2) ? .velocity : .standard
        }
        if chance.isOnce(in: isCrowded ? 40 : 5) { invite(to: &request) }
        if chance.isOnce(in: Self.isWide(name) ? 12 : 3) {
            request.coalescing = Coalescing(
                key: chance.pick(Self.keys, or: Self.keys[0]), keep: chance.isOnce(in: 3) ? .first : .latest,
                among: chance.isOnce(in: 3) ? .unfinished : .queued)
        }
        share(&request, in: scene)
        if chance.isOnce(in: 3) { request.session = clients[client].sessions.randomElement(using: &chance) }
        // Otherwise the engine names the client of the session.
        if chance.isOnce(in: 16) { request.ignoresGuards = true }
        if request.session != nil, chance.isOnce(in: 2) { request.client = Self.names[client] }
        if !chance.isOnce(in: 3) {
            lastKey += 1
            request.idempotencyKey = IdempotencyKey("key-\(lastKey)")
        }
        return request
    }

    /// Has a request in a scene without a hierarchy name what it likes, and makes some requests shared.
    private mutating func share(_ request: inout TransitionRequest, in scene: NaiveScene) {
        let isBare = scene.tree.nodes.isEmpty
        if isBare, !chance.isOnce(in: 4) {
            let names = Array(Self.places.shuffled(using: &chance).prefix(Int.random(in: 1...3, using: &chance)))
            let isAny = names.count > 1 && chance.isOnce(in: 2)
            request.scope = isAny ? .anyOf(names) : .controllers(names)
            if isAny || !chance.isOnce(in: 8) { request.operation = nil }
            if isAny { (request.interrupts, request.coalescing) = (false, nil) }
            if isAny { return }
        }
        guard chance.isOnce(in: isBare ? 3 : 12), request.scope != .operation else { return }
        request.mode = .shared
        (request.operation, request.isInteractive, request.participants) = (nil, false, [])
    }

    /// Makes a request wait for what mostly does not hold yet.
    private mutating func waitForState(_ request: inout TransitionRequest, in scene: NaiveScene) {
        request.unmet = .wait
        request.queue = request.queue ?? chance.milliseconds(upTo: 20_000)
        if request.expectations.isEmpty, !chance.isOnce(in: 8) {
            request.expectations = chance.someExpectations(of: scene)
        }
    }

    /// Makes a request lock a single stack, so that others run beside it, or entangles it with two of them.
    private mutating func narrow(_ request: inout TransitionRequest, in scene: NaiveScene) {
        let held = oracle.held(in: request.scene)
        let stacks = scene.tree.nodes.filter { $0.value.kind == .navigation }.keys.sorted {
            $0.description < $1.description
        }
        guard !stacks.isEmpty else { return }
        let free = stacks.filter { !held.contains($0) }
        let stack = chance.pick(free, or: chance.pick(stacks, or: stacks[0]))
        if held.isEmpty || chance.isOnce(in: 2) {
            request.operation = chance.operation(
                onStack: stack, in: scene.tree, wanted: oracle.missing(in: request.scene))
            request.scope = .operation
        } else {
            entangle(&request, beside: stack, in: scene)
        }
    }

    /// Makes a request wait for a locked controller, and lock almost nothing else: either its operation is on a controller
    /// that a granted operation will insert, so that its scope grows while it waits, or it lists a free controller that
    /// such a scope may come to include.
    private mutating func entangle(
        _ request: inout TransitionRequest, beside free: ControllerID, in scene: NaiveScene
    ) {
        let held = oracle.held(in: request.scene)
        var named = [chance.pick(held, or: free)]
        if chance.isOnce(in: 2) {
            let arriving = oracle.reserved(in: request.scene).sorted { $0.description < $1.description }
            request.operation = chance.operation(onAbsent: scene.tree, wanted: arriving)
        } else {
            named.append(free)
            if !chance.isOnce(in: 8) { request.operation = nil }
        }
        request.scope = .controllers(named)
    }

    /// Adds participants to a request.
    private mutating func invite(to request: inout TransitionRequest) {
        let invited = Self.names.shuffled(using: &chance).prefix(Int.random(in: 1...2, using: &chance))
        for name in invited {
            request.participants.append(
                Participant(client: name, isRequired: !chance.isOnce(in: 4), mayVeto: chance.isOnce(in: 2)))
        }
        request.ready = chance.milliseconds(upTo: chance.isOnce(in: 6) ? 0 : 4_000)
        request.onUnready = chance.isOnce(in: 2) ? .proceed : .abort
    }

    /// A step while a scene is crowded: many requests, and little time passes.
    mutating func crowd() throws(Broken) {
        switch Int.random(in: 0..<20, using: &chance) {
        case 0..<9: try ask()
        case 9..<16: try endSomething()
        case 16: try awaitSomething()
        case 17: try renewSomething()
        case 18: try commit()
        default: try letTimePass(upTo: .milliseconds(400))
        }
    }

    mutating func someWait() -> Duration {
        chance.isOnce(in: 4) ? .zero : chance.milliseconds(upTo: 12_000)
    }

    mutating func ask() throws(Broken) {
        guard let client = someClient() else { return }
        let request = someRequest(of: client)
        let isPool = request.scene == Self.scenes[5]
        if oracle.isBare(request.scene), isPool ? chance.isOnce(in: 40) : !chance.isOnce(in: 3) {
            return try send(
                .declare(request.scene, chance.storyboard(isWide: Self.isWide(request.scene)), if: .none),
                from: client)
        }
        if chance.isOnce(in: 6) {
            return try send(.dryRun(request, isSerialized: !chance.isOnce(in: 3)), from: client)
        }
        let ask: Ask =
            chance.isOnce(in: Self.isWide(request.scene) ? 8 : 3)
            ? .start(request) : .serialize(request, wait: someWait())
        if request.idempotencyKey != nil {
            clients[client].keyed.append(ask)
            if clients[client].keyed.count > 4 { clients[client].keyed.removeFirst() }
        }
        try send(ask, from: client)
    }

    /// Two clients request a transition in the same scene, one right after the other.
    mutating func askTwice() throws(Broken) {
        var requests: [Request] = []
        var scene: SceneName?
        for _ in 0..<2 {
            guard let client = someClient() else { return }
            var request = someRequest(of: client)
            // The controllers of the second request may not exist in this scene.
            if let scene, scene != request.scene {
                request.scene = scene
                request.scope = .scene
            }
            scene = request.scene
            request.idempotencyKey = nil
            requests.append(
                Request(client: client, life: clients[client].life, ask: .serialize(request, wait: someWait())))
        }
        try submit(requests[0], requests[1])
    }

    /// Repeats a request with its key, as if the answer was lost, or sends another request with the same key, mostly in
    /// another scene.
    mutating func repeatRequest() throws(Broken) {
        guard let client = someClient(), let ask = clients[client].keyed.randomElement(using: &chance) else { return }
        guard chance.isOnce(in: 6) else { return try send(ask, from: client) }
        if chance.isOnce(in: 3), let key = ask.idempotencyKey {
            var other = someRequest(of: client)
            other.idempotencyKey = key
            return try send(.start(other), from: client)
        }
        switch ask {
        case .start(var request):
            request.ticket += .milliseconds(1)
            try send(.start(request), from: client)
        case .serialize(let request, _):
            try send(.start(request), from: client)
        case .dryRun, .await, .awaitIdle, .look, .end, .revoke, .revokeAll, .update, .renew, .progress, .release,
            .perform, .report,
            .addGuard, .removeGuard, .openSession, .renewSession, .endSession, .attach, .declare, .patch, .delete:
            preconditionFailure("\(ask) has no key")
        }
    }

    // MARK: - Scenes

    mutating func declare() throws(Broken) {
        guard let client = someClient() else { return }
        let scene = chance.isOnce(in: 3) ? someScene() : idleScene()
        try send(
            .declare(scene, chance.storyboard(isWide: Self.isWide(scene)), if: somePrecondition(on: scene)),
            from: client)
    }

    /// Mostly none, otherwise one that is met or one that is not.
    private mutating func somePrecondition(on scene: SceneName) -> Precondition {
        let actual = oracle.scene(scene).version
        let wrong = StoryboardVersion(revision: Revision(rawValue: (actual?.revision.rawValue ?? 0) + 1))
        return switch Int.random(in: 0..<16, using: &chance) {
        case 0, 1: actual.map { .version([$0]) } ?? .none
        case 2: .version([wrong])
        case 3: .version([wrong] + (actual.map { [$0] } ?? []))
        case 4: .declared
        case 5: .version([])
        case 6, 7: .undeclared
        default: .none
        }
    }

    mutating func patch() throws(Broken) {
        guard let client = someClient() else { return }
        let scene = someScene()
        try send(
            .patch(scene, chance.patch(of: oracle.scene(scene).storyboard), if: somePrecondition(on: scene)),
            from: client)
    }

    mutating func delete() throws(Broken) {
        guard let client = someClient() else { return }
        let scene = chance.isOnce(in: 3) ? someScene() : idleScene()
        try send(.delete(scene, if: somePrecondition(on: scene)), from: client)
    }

    /// A scene without unfinished transitions, if there is one.
    mutating func idleScene() -> SceneName {
        let idle = Self.scenes.filter { oracle.hindering(in: $0) == 0 }
        return chance.pick(idle, or: Self.scenes[0])
    }
}
