import Testing

@testable import ArbiterCore

/// Dry runs: what would come of a request now, without making it.
struct DryRunTests {
    private var arbiter = Arbiter()

    private static func request(
        _ operation: Operation? = nil, scope: Scope? = nil, expecting expectations: [ArbiterCore.Expectation] = [],
        animation: AnimationRequest? = nil, coalescing: Coalescing? = nil
    ) -> TransitionRequest {
        TransitionRequest(
            scope: scope, operation: operation, expectations: expectations, animation: animation,
            coalescing: coalescing)
    }

    private static func coalescing(
        keep: Coalescing.Keep, scope: Scope? = nil, _ operation: Operation? = nil
    ) throws -> TransitionRequest {
        request(
            operation, scope: scope, coalescing: Coalescing(key: try #require(CoalescingKey("selection")), keep: keep))
    }

    private func push(_ controller: String) throws -> Operation {
        .push(navigation: id("nav"), controller: try .outlined(controller))
    }

    /// What would come of a request, by both calls or by the one given; nothing may change.
    private func dryRun(
        _ request: TransitionRequest, isSerialized: Bool? = nil, at location: SourceLocation = #_sourceLocation
    ) throws -> DryRun {
        let calls = isSerialized.map { [$0] } ?? [false, true]
        let answers = try calls.map { try arbiter.dryRun(request, isSerialized: $0) }
        #expect(answers.allSatisfy { $0 == answers[0] }, sourceLocation: location)
        return answers[0]
    }

    private func refusal(_ request: TransitionRequest, isSerialized: Bool) -> ArbiterError? {
        do throws(ArbiterError) {
            _ = try arbiter.dryRun(request, isSerialized: isSerialized)
            return nil
        } catch {
            return error
        }
    }

    // MARK: What would run

    private static let operations: [(String, Operation)] = [
        ("nav[home]", .push(navigation: id("nav"), controller: arrival("editor"))),
        ("nav[home]", .present(presenter: id("home"), controller: arrival("sheet"))),
        ("nav[home a b]", .popToRoot(navigation: id("nav"))),
        ("nav[home]>sheet", .dismiss(id("sheet"))),
        ("tabs{one *two}", .select(tabs: id("tabs"), .index(0))),
        ("split(nav[home]|two)", .segue(source: id("home"), .named("next"))),
        ("nav[home]", .setRoot(arrival("other"))),
    ]

    @Test(arguments: operations)
    mutating func `a dry run says what the request itself would come to`(
        outline: String, operation: Operation
    ) throws {
        let segue = Segue(identifier: .named("next"), source: id("home"), kind: .show, destination: arrival("new"))
        let hierarchy = try Hierarchy.outlined(outline)
        let isSegue = operation.type == .segue
        try arbiter.declare(Storyboard(hierarchy: hierarchy, segues: isSegue ? [segue] : []))
        let request = Self.request(operation, scope: .operation)
        let said = try dryRun(request)
        guard case .granted(let preview) = said.outcome else {
            Issue.record("\(said)")
            return
        }

        let owner = try arbiter.start(request)
        let grant = try #require(arbiter.view(of: owner)?.transition.grant)
        #expect(said.scope == .operation && said.revision == grant.revision)
        #expect(preview.animation == grant.animation && preview.resolved == grant.resolved)
        #expect(preview.plan?.presenter == grant.presenter)
        #expect(preview.resolved.isEmpty != isSegue)
        let ended = try arbiter.end(owner)
        #expect(preview.plan?.inserted == ended.change?.inserted && preview.plan?.removed == ended.change?.removed)
        guard case .ended(let ending) = ended.transition.phase else { return }
        #expect(preview.appearance == grant.appearance + ending.appearance)
        #expect(!preview.appearance.isEmpty)
    }

    @Test mutating func `without an operation nothing would change`() throws {
        let said = try dryRun(Self.request())
        #expect(
            said
                == DryRun(
                    scene: .main, scope: .scene, revision: Revision(rawValue: 0),
                    outcome: .granted(DryRun.Preview(resolved: [], animation: nil, plan: nil, participants: []))))
        #expect(arbiter.machine.scenes().isEmpty, "the scene was not made")
        let animated = try dryRun(Self.request(animation: AnimationRequest(duration: .seconds(2))))
        guard case .granted(let preview) = animated.outcome else { return }
        #expect(preview.animation?.duration == .seconds(2))
    }

    @Test mutating func `an operation that would change nothing is a noop`() throws {
        try arbiter.declare("nav[home]")
        #expect(try dryRun(Self.request(.pop(navigation: id("nav")))).outcome == .noop)
    }

    @Test mutating func `a deleted scene would continue with its revision`() throws {
        try arbiter.declare("nav[home]")
        try arbiter.delete(.main)
        #expect(try dryRun(Self.request()).revision == Revision(rawValue: 1))
    }

    // MARK: Who is in the way

    @Test mutating func `transitions in the way are named, and expectations are not checked then`() throws {
        try arbiter.declare("nav[home]")
        let holder = try arbiter.start()
        let ticket = try arbiter.serialize()
        let impossible = Self.request(
            .pop(navigation: id("home")), expecting: [.revision(Revision(rawValue: 9))])
        #expect(try dryRun(impossible).outcome == .blocked(by: [holder.id, ticket.id]))
        try arbiter.end(holder)
        #expect(try dryRun(impossible).outcome == .blocked(by: [ticket.id]))
        try arbiter.end(ticket)
        #expect(refusal(impossible, isSerialized: false) == refusal(impossible, isSerialized: true))
        #expect(refusal(impossible, isSerialized: true) != nil)
    }

    @Test mutating func `at most eight are named, those that run first`() throws {
        try arbiter.declare("split(left[a]|right[b])")
        let left = try arbiter.start(Self.request(scope: .controllers([id("left")])))
        let right = try arbiter.start(Self.request(scope: .controllers([id("right")])))
        let tickets = try (0..<9).map { _ in try arbiter.serialize() }
        let named = [left.id, right.id] + tickets.prefix(6).map(\.id)
        #expect(try dryRun(Self.request()).outcome == .blocked(by: named))
        #expect(
            try dryRun(Self.request(scope: .controllers([id("a")]))).outcome
                == .blocked(by: [left.id] + tickets.prefix(7).map(\.id)))
    }

    @Test mutating func `what locks other controllers is not in the way`() throws {
        try arbiter.declare("split(left[a]|right[b])")
        let left = try arbiter.start(Self.request(scope: .controllers([id("left")])))
        guard case .granted = try dryRun(Self.request(scope: .controllers([id("b")]))).outcome else {
            Issue.record("nobody is in the way")
            return
        }
        #expect(try dryRun(Self.request(scope: .controllers([id("a")]))).outcome == .blocked(by: [left.id]))
    }

    @Test mutating func `while grants are withheld nothing would run`() throws {
        var machine = ArbiterStateMachine()
        _ = machine.apply(.distrust(holdsGrants: true), at: arbiter.moment)
        for isSerialized in [false, true] {
            let later = arbiter.now.advanced(by: .seconds(20))
            let said = try machine.dryRun(Self.request(), isSerialized: isSerialized, at: later)
            #expect(said.outcome == .withheld(for: Limits().longestSilence - .seconds(20)))
        }
    }

    // MARK: Refusals

    @Test mutating func `what a start refuses is refused`() throws {
        try arbiter.declare("nav[home]")
        let push = try push("home")
        for (request, isExpected) in [
            (
                Self.request(push),
                { if case .operationRefused(let refusal) = $0 { refusal.code == .alreadyOnStack } else { false } }
            ),
            (
                Self.request(expecting: [.controller(id("home"), is: .absent)]),
                { if case .expectationFailed = $0 { true } else { false } }
            ),
            (
                Self.request(scope: .controllers([id("none")])),
                { if case .operationRefused(let refusal) = $0 { refusal.code == .unknownController } else { false } }
            ),
            (
                Self.request(animation: AnimationRequest(type: TransitionTypeName("star"))),
                { if case .unknownTransitionType = $0 { true } else { false } }
            ),
        ] as [(TransitionRequest, (ArbiterError?) -> Bool)] {
            for isSerialized in [false, true] {
                #expect(isExpected(refusal(request, isSerialized: isSerialized)), "\(request)")
            }
        }
        var stranger = Self.request()
        stranger.session = Token(high: 1, low: 1)
        for isSerialized in [false, true] {
            #expect(refusal(stranger, isSerialized: isSerialized) == .unknownSession)
        }
    }

    @Test func `the limits are those of the calls`() throws {
        var limits = Limits()
        limits.queuedPerScene = 1
        limits.unfinished = 2
        var arbiter = Arbiter(limits: limits)
        let holder = try arbiter.start()
        _ = try arbiter.serialize()
        // A start learns who is in the way before it learns that there is no room; a serialize does not.
        let said = try arbiter.dryRun(Self.request(), isSerialized: false)
        guard case .blocked(let blockers) = said.outcome else { return }
        #expect(blockers.first == holder.id)
        #expect(throws: ArbiterError.tooManyTransitions(limit: 2)) {
            try arbiter.dryRun(Self.request(), isSerialized: true)
        }
        var elsewhere = Self.request()
        elsewhere.scene = try #require(SceneName("elsewhere"))
        for isSerialized in [false, true] {
            #expect(throws: ArbiterError.tooManyTransitions(limit: 2)) {
                try arbiter.dryRun(elsewhere, isSerialized: isSerialized)
            }
        }
        limits.unfinished = 9
        var queue = Arbiter(limits: limits)
        _ = try queue.start()
        _ = try queue.serialize()
        #expect(throws: ArbiterError.queueFull(limit: 1)) {
            try queue.dryRun(Self.request(), isSerialized: true)
        }
    }

    @Test mutating func `a key means nothing`() throws {
        var keyed = Self.request()
        keyed.idempotencyKey = IdempotencyKey("key-0123456789abcdef")
        let owner = try arbiter.start(keyed)
        keyed.ticket = .seconds(9)
        #expect(try dryRun(keyed).outcome == .blocked(by: [owner.id]))
        try arbiter.end(owner)
        keyed.idempotencyKey = IdempotencyKey("key-fedcba9876543210")
        _ = try dryRun(keyed)
        #expect(try arbiter.start(keyed).id != owner.id, "the key was still free")
    }

    // MARK: Coalescing

    @Test mutating func `a serialize that would give way to an older ticket would not run`() throws {
        _ = try arbiter.start()
        let older = try arbiter.serialize(Self.coalescing(keep: .latest))
        let newer = try Self.coalescing(keep: .first)
        #expect(try dryRun(newer, isSerialized: true).outcome == .superseded(by: older.id))
    }

    @Test mutating func `the tickets whose place it would take are not in the way`() throws {
        try arbiter.declare("split(left[a]|right[b])")
        let holder = try arbiter.start(Self.request(scope: .controllers([id("left")])))
        let older = try arbiter.serialize(Self.coalescing(keep: .latest))
        let narrow = try Self.coalescing(keep: .latest, scope: .controllers([id("right")]))
        // As a start it would not take a place.
        #expect(try dryRun(narrow, isSerialized: false).outcome == .blocked(by: [older.id]))
        guard case .granted = try dryRun(narrow, isSerialized: true).outcome else {
            Issue.record("only the older ticket is in the way, and it would be replaced")
            return
        }
        let wide = try Self.coalescing(keep: .latest)
        #expect(try dryRun(wide, isSerialized: true).outcome == .blocked(by: [holder.id]))
        let gone = try Self.coalescing(keep: .latest, scope: .controllers([id("right")]), .pop(navigation: id("b")))
        #expect(refusal(gone, isSerialized: true) != nil)

        let newer = try arbiter.serialize(narrow)
        #expect(arbiter.state(of: newer) == .running && arbiter.outcome(of: older) == .superseded(by: newer.id))
    }
}
