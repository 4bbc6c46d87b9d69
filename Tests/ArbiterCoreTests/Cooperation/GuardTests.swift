import Testing

@testable import ArbiterCore

/// Guards: clients that are asked before controllers are removed.
struct GuardTests {
    private var arbiter = Arbiter()
    private let editor: Session

    init() throws {
        try arbiter.declare("nav[list editor~>sheet other]")
        editor = try arbiter.openSession(client: "editor", timeToLive: .seconds(3600))
    }

    private static func pop(to controller: String = "list", by session: Session? = nil) throws -> TransitionRequest {
        TransitionRequest(
            operation: try .popTo(navigation: id("nav"), controller: id(controller)), session: session?.token)
    }

    private func participants(of owner: Owner) -> [Participant] {
        arbiter.view(of: owner)?.transition.participants ?? []
    }

    @Test(arguments: [
        (["editor"], "list", true),
        (["sheet"], "list", true),
        (["nobody", "sheet"], "list", true),
        (["other"], "editor", true),
        (["editor"], "editor", false),
        (["list", "nav"], "list", false),
        (["nobody"], "list", false),
    ])
    mutating func `who guards what is removed, or what is below it, is asked`(
        guarded: [String], left: String, isAsked: Bool
    ) throws {
        let known = try arbiter.guarding(guarded, editor, onSilence: .abort)
        let dryRun = try arbiter.dryRun(Self.pop(to: left), isSerialized: false)
        let owner = try arbiter.start(Self.pop(to: left))
        #expect(arbiter.state(of: owner) == (isAsked ? .preparing : .running))
        let expected = isAsked ? [known.participant] : []
        #expect(participants(of: owner) == expected)
        guard case .granted(let preview) = dryRun.outcome else {
            Issue.record("\(dryRun)")
            return
        }
        #expect(preview.participants == expected)
        try arbiter.restart()
        #expect(participants(of: owner) == expected)
    }

    @Test mutating func `ready lets it run, and a veto rejects it`() throws {
        _ = try arbiter.guarding(["editor"], editor)
        let vetoed = try arbiter.start(Self.pop())
        let view = try arbiter.veto(vetoed, client: "editor", editor, because: "it is not saved")
        #expect(
            view.outcome == .rejected(.vetoed(by: editor.client!, GivenReason("it is not saved"))))
        #expect(arbiter.outline == "nav[list editor~>sheet other]")
        let second = try arbiter.start(Self.pop())
        #expect(try arbiter.ready(second, client: "editor", editor).state == .running)
        #expect(try arbiter.ready(second, client: "editor", editor).state == .running, "once more is fine")
        try arbiter.end(second)
        #expect(arbiter.outline == "nav[list]")
    }

    @Test(arguments: UnreadyAction.allCases)
    mutating func `silence counts as the guard says, after two seconds at least`(onSilence: UnreadyAction) throws {
        _ = try arbiter.guarding(["editor"], editor, onSilence: onSilence)
        var request = try Self.pop()
        request.ready = .milliseconds(100)
        request.onUnready = onSilence == .abort ? .proceed : .abort
        let owner = try arbiter.start(request)
        arbiter.advance(by: .milliseconds(1999))
        #expect(arbiter.state(of: owner) == .preparing)
        arbiter.advance(by: .milliseconds(1))
        switch onSilence {
        case .proceed:
            #expect(arbiter.state(of: owner) == .running)
            #expect(arbiter.view(of: owner)?.transition.laggards == [try #require(editor.client)])
        case .abort: #expect(arbiter.outcome(of: owner) == .expired(.participants))
        }
    }

    @Test mutating func `once the guards have answered, participants have the time that their owner gave`() throws {
        _ = try arbiter.guarding(["editor"], editor)
        var request = try Self.pop()
        request.participants = [Participant(client: try #require(ClientName("other")))]
        request.ready = .milliseconds(500)
        let (owner, late) = (try arbiter.start(request), try arbiter.openSession(client: "menu"))
        arbiter.advance(by: .milliseconds(400))
        try arbiter.ready(owner, client: "editor", editor)
        arbiter.advance(by: .milliseconds(99))
        #expect(arbiter.state(of: owner) == .preparing)
        arbiter.advance(by: .milliseconds(1))
        #expect(arbiter.state(of: owner) == .running)
        try arbiter.end(owner, as: .cancelled)
        let second = try arbiter.start(request)
        let known = try arbiter.guarding(["other"], late)
        arbiter.advance(by: .milliseconds(900))
        #expect(arbiter.state(of: second) == .preparing)
        try arbiter.ready(second, client: "editor", editor)
        #expect(arbiter.state(of: second) == .running, "their time was over")
        try arbiter.removeGuard(known, late)
    }

    @Test mutating func `one abort is enough, a participant's or a guard's`() throws {
        _ = try arbiter.guarding(["editor"], editor)
        var request = try Self.pop()
        request.participants = [Participant(client: try #require(ClientName("other")))]
        request.onUnready = .abort
        let owner = try arbiter.start(request)
        try arbiter.ready(owner, client: "editor", editor)
        #expect(arbiter.state(of: owner) == .preparing)
        arbiter.advance(by: .seconds(2))
        #expect(arbiter.outcome(of: owner) == .expired(.participants))
    }

    @Test mutating func `one answer is for all that the session is asked, and only for that`() throws {
        _ = try arbiter.guarding(["editor"], editor)
        _ = try arbiter.guarding(["other", "nobody"], editor)
        let second = try arbiter.openSession(client: "editor", timeToLive: .seconds(3600))
        _ = try arbiter.guarding(["sheet"], second)
        var request = try Self.pop()
        request.participants = [Participant(client: try #require(editor.client))]
        let owner = try arbiter.start(request)
        #expect(participants(of: owner).map(\.mayVeto) == [false, true, true, true])
        #expect(try arbiter.ready(owner, client: "editor", editor).state == .preparing)
        #expect(participants(of: owner).map(\.state) == [.ready, .ready, .ready, .waiting])
        #expect(try arbiter.ready(owner, client: "editor", editor).state == .preparing, "once more is fine")
        try arbiter.restart()
        #expect(try arbiter.ready(owner, client: "editor", second).state == .running)
    }

    @Test mutating func `a client of the same name that guards nothing is no participant`() throws {
        _ = try arbiter.guarding(["editor"], editor)
        let namesake = try arbiter.openSession(client: "editor")
        let owner = try arbiter.start(Self.pop())
        #expect(throws: ArbiterError.notAParticipant(editor.client)) {
            try arbiter.ready(owner, client: "editor", namesake)
        }
        #expect(throws: ArbiterError.notAParticipant(editor.client)) {
            try arbiter.veto(owner, client: "editor", namesake)
        }
        try arbiter.endSession(namesake)
        #expect(arbiter.state(of: owner) == .preparing)
    }

    @Test mutating func `its own session is not asked, and nobody is by one that ignores guards`() throws {
        _ = try arbiter.guarding(["editor"], editor)
        let own = try arbiter.start(Self.pop(by: editor))
        #expect(arbiter.state(of: own) == .running)
        try arbiter.end(own, as: .cancelled)
        var forced = try Self.pop()
        forced.ignoresGuards = true
        let owner = try arbiter.start(forced)
        #expect(arbiter.state(of: owner) == .running)
    }

    @Test mutating func `a guard that was taken back cannot veto`() throws {
        let known = try arbiter.guarding(["editor"], editor)
        let other = try arbiter.openSession(client: "other")
        _ = try arbiter.guarding(["sheet"], other)
        let owner = try arbiter.start(Self.pop())
        try arbiter.removeGuard(known, nil)
        #expect(throws: ArbiterError.notAParticipant(editor.client)) {
            try arbiter.veto(owner, client: "editor", editor)
        }
        #expect(try arbiter.ready(owner, client: "other", other).state == .running)
    }

    @Test(arguments: [true, false])
    mutating func `a guard that ends is not waited for`(bySession: Bool) throws {
        let known = try arbiter.guarding(["editor"], editor, onSilence: .abort)
        let owner = try arbiter.start(Self.pop())
        if bySession { try arbiter.endSession(editor) } else { try arbiter.removeGuard(known, editor) }
        #expect(arbiter.state(of: owner) == .running)
        #expect(participants(of: owner).map(\.state) == [.gone])
        #expect(arbiter.view(of: owner)?.transition.laggards == [])
        #expect(try arbiter.scene("main").guards == [])
        try arbiter.restart()
    }

    @Test mutating func `a guard is on an id, whatever has it`() throws {
        let known = try arbiter.guarding(["later"], editor)
        try arbiter.declare("nav[list later]")
        #expect(try arbiter.scene("main").guards == [known])
        let owner = try arbiter.start(Self.pop())
        #expect(arbiter.state(of: owner) == .preparing)
    }

    @Test mutating func `who takes the place of a guarded one with its id removes it`() throws {
        _ = try arbiter.guarding(["editor"], editor)
        let request = try TransitionRequest(
            operation: .list([
                .popTo(navigation: id("nav"), controller: id("list")),
                .push(navigation: id("nav"), controller: .outlined("editor")),
            ]))
        let owner = try arbiter.start(request)
        #expect(arbiter.state(of: owner) == .preparing)
    }

    // MARK: Operations given to what runs

    @Test mutating func `nobody is asked by a perform, which is refused`() throws {
        let known = try arbiter.guarding(["editor"], editor)
        let operation = try Operation.popTo(navigation: id("nav"), controller: id("list"))
        let owner = try arbiter.start(TransitionRequest())
        #expect(throws: ArbiterError.guarded([known])) { try arbiter.give(owner, operation) }
        try arbiter.give(owner, operation, ignoresGuards: true)
        try arbiter.give(owner, operation)
        try arbiter.end(owner)
        #expect(arbiter.outline == "nav[list]")
    }

    // MARK: Limits and refusals

    @Test mutating func `the same asked again is the same guard`() throws {
        let known = try arbiter.guarding(["editor", "sheet"], editor)
        let count = arbiter.journal.count
        #expect(try arbiter.guarding(["editor", "sheet"], editor) == known)
        #expect(arbiter.journal.count == count)
        #expect(try arbiter.guarding(["editor", "sheet"], editor, onSilence: .abort) != known)
    }

    @Test mutating func `so many controllers are guarded in a scene`() throws {
        let names = (0..<Limits.guardedControllers).map { "c\($0)" }
        let first = try arbiter.guarding(Array(names.dropLast()), editor)
        #expect(throws: ArbiterError.tooManyGuards(limit: 64)) { try arbiter.guarding(["a", "b"], editor) }
        _ = try arbiter.guarding(["a"], editor)
        #expect(throws: ArbiterError.tooManyGuards(limit: 64)) { try arbiter.guarding(["b"], editor) }
        try arbiter.removeGuard(first, nil)
        _ = try arbiter.guarding(["b"], editor)
    }

    @Test mutating func `who may not guard, and whose guard is whose`() throws {
        let nameless = try arbiter.openSession()
        #expect(throws: ArbiterError.namelessSession) { try arbiter.guarding(["a"], nameless) }
        let known = try arbiter.guarding(["a"], editor)
        #expect(throws: ArbiterError.foreignGuard(known.id)) { try arbiter.removeGuard(known, nameless) }
        try arbiter.removeGuard(known, nil)
        #expect(throws: ArbiterError.unknownGuard(known.id)) { try arbiter.removeGuard(known, editor) }
        try arbiter.endSession(editor)
        #expect(throws: ArbiterError.unknownSession) { try arbiter.guarding(["a"], editor) }
    }

    @Test mutating func `a session guards in so many scenes, and in none that it may not use`() throws {
        for number in 0..<Limits.guardedScenes {
            _ = try arbiter.guarding(["a"], editor, in: try #require(SceneName("scene-\(number)")))
        }
        #expect(throws: ArbiterError.tooManyGuardedScenes(limit: 256)) { try arbiter.guarding(["a"], editor) }
        _ = try arbiter.guarding(["b"], editor, in: try #require(SceneName("scene-0")))
        let bound = Caller(principal: nil, scenes: .matching([ScenePattern(unchecked: "kiosk-*")]))
        let kiosk = try arbiter.openSession(client: "kiosk", by: bound)
        #expect(throws: ArbiterError.notAParticipant(kiosk.client)) { try arbiter.guarding(["a"], kiosk) }
        try arbiter.endSession(editor)
        #expect(try arbiter.scene("scene-0").guards == [])
        try arbiter.restart()
    }

    @Test mutating func `a scene with a guard is not forgotten, and a deleted one has none`() throws {
        var small = Arbiter(
            limits: {
                var limits = Limits()
                limits.scenes = 1
                return limits
            }())
        let session = try small.openSession(client: "editor")
        let known = try small.guarding(["a"], session)
        let elsewhere = TransitionRequest(scene: try #require(SceneName("other")))
        #expect(throws: ArbiterError.tooManyScenes(limit: 1)) { try small.start(elsewhere) }
        try small.removeGuard(known, session)
        _ = try small.start(elsewhere)
        _ = try arbiter.guarding(["editor"], editor)
        try arbiter.delete(.main)
        try arbiter.declare("nav[list editor]")
        let owner = try arbiter.start(Self.pop())
        #expect(arbiter.state(of: owner) == .running)
        try arbiter.restart()
    }

    @Test mutating func `the guards of a session that ends in portions end with it`() throws {
        let holder = try arbiter.start(TransitionRequest())
        for _ in 0..<Limits.portion { _ = try arbiter.serialize(TransitionRequest(session: editor.token)) }
        let elsewhere: SceneName = try #require(SceneName("elsewhere"))
        _ = try arbiter.guarding(["editor"], editor)
        _ = try arbiter.guarding(["a", "b"], editor, in: elsewhere)
        _ = try arbiter.perform { machine, step throws(ArbiterError) in
            try machine.endSession(editor.token, in: &step)
        }
        while arbiter.journal.last?.record != .endSession(editor.id, .ended) { arbiter.oversleep(.zero) }
        #expect(try arbiter.scene("main").guards == [])
        #expect(try arbiter.scene("elsewhere").guards == [])
        try arbiter.end(holder)
        try arbiter.restart()
    }

    @Test func `the first rules know no guards`() throws {
        var arbiter = Arbiter(rules: .first)
        let session = try arbiter.openSession(client: "editor")
        #expect(throws: ArbiterError.olderRules) { try arbiter.guarding(["a"], session) }
        #expect(throws: ArbiterError.olderRules) { try arbiter.start(TransitionRequest(ignoresGuards: true)) }
    }
}
