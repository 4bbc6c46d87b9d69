internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

// What the engine says, as it is told to a client.

extension Problem {
    init(_ error: EngineError) {
        switch error {
        case .refused(let error): self.init(error)
        case .notOwner(let error):
            self.init(.notOwner, error.reason, retryAfter: Self.retrySoon)
            misplaced = .untouched
        case .journalUnavailable(let error):
            let pause = error.retryAfter.map { Int($0.components.seconds) }
            self.init(.journalUnavailable, error.reason, retryAfter: max(Self.retrySoon, pause ?? 0))
        }
    }

    init(_ error: ArbiterError) {
        switch error {
        case .busy(let busy):
            self.init(
                .busy,
                busy.isBySelf
                    ? "\(busy.holderName) is in the way, and is of the same session: locks are not re-entrant, so do this as a "
                        + "part of it, or after its end."
                    : "\(busy.holderName) is in the way: wait for it with serialize, or drop the event.")
            self.busy = busy
        case .unknownTransition(let id):
            self.init(.unknownTransition, "No transition \(id) is known; if there was one, it ended long ago.")
        case .operationRefused(let refusal):
            self.init(Code(refusal.code), refusal.detail)
            index = refusal.index
        case .expectationFailed(let failure):
            self.init(.expectationFailed, failure.text, field: "expect")
            expected = failure.expectation.text
            actual = failure.actual
        case .unknownTransitionType(let name):
            self.init(
                .unknownTransitionType,
                "The scene's storyboard has no transition type \(quoted(name.description)): declare it there.",
                field: "animation.type")
        case .unknownIntroTransitionType(let name):
            self.init(
                .unknownTransitionType,
                "A controller comes in by \(quoted(name.description)), which the scene's storyboard does not declare.",
                field: "operation")
        case .versionMismatch(let expected, let actual):
            self.init(expectedTags: expected.tags, actual: actual)
        case .alreadyDeclared(let name):
            self.init(
                .alreadyDeclared, "The scene \(name) has a storyboard: read it, or declare it without If-None-Match.",
                field: HeaderName.ifNoneMatch.text)
        case .undeclared(let name):
            self.init(.notFound, "Nobody has declared a storyboard of the scene \(name): declare it with PUT.")
        case .inUse(let entry, let busy):
            self.init(
                .inUse, "\(busy.holderName) uses \(entry.text): change that when it has ended.", field: entry.field)
            self.busy = busy
        case .invalidStoryboard(let fault): self.init(fault: fault)
        case .unknownScene(let name):
            self.init(.unknownScene, "No scene \(name) is known; its first transition makes it, or its storyboard.")
        case .wrongToken(let id):
            self.init(.wrongToken, "Only the token from its start or serialize acts on \(id).", field: "token")
        case .alreadyEnded(let view):
            self.init(.alreadyEnded, view.endedText)
            transition = view
            if view.isInterrupted { isApplied = view.isApplied }
        case .alreadyDecided(let view):
            self.init(.alreadyDecided, view.decidedText)
            transition = view
        case .alreadyPerformed(let view):
            self.init(
                .alreadyPerformed, "\(view.transition.id) has its operation, which stays: ask for another transition.")
            transition = view
        case .interrupted(let view):
            self.init(
                .interrupted, "\(view.transition.id) ends for another transition in a moment: it gets no operation now."
            )
            transition = view
        case .outsideScope(let id):
            self.init(
                .outsideScope,
                "\(id) does not hold everything that the operation touches: ask for one with a wider scope.",
                field: "operation")
        case .holdsNoHierarchy(let id):
            self.init(
                .invalidField,
                "\(id) can be given no operation: it is shared, or locks names in a scene that has no hierarchy.",
                field: "id")
        case .olderRules:
            self.init(
                .olderRules,
                "The cluster keeps to the rules of its earliest version: try again when every node has been updated.",
                retryAfter: Self.retrySoon)
        case .notInteractive(let id):
            self.init(.notInteractive, "\(id) was not asked for as interactive: end it, without a gesture.")
        case .notRunning(let view):
            // An owner waits with its token; participants, who have none, as anybody may.
            let next: Milestone = view.transition.isQueued ? .granted : .running
            self.init(
                .notRunning,
                "\(view.transition.id) is \(view.transition.state.rawValue): "
                    + "wait first until it is \(next.rawValue), with /transitions/await.")
            transition = view
        case .tooLate(let view):
            self.init(
                .tooLate, "\(view.transition.id) does not wait any more: it is \(view.transition.state.rawValue).")
            transition = view
        case .unknownSession:
            self.init(
                .unauthenticated, "No session has this token; if there was one, it has ended: begin another.",
                field: HeaderName.session.text)
        case .notAParticipant(let client):
            let text =
                client.map {
                    "The session does not speak for a participant \(quoted($0.description)); for one with a guard, only that session "
                        + "does which set the guard."
                }
                ?? "The session has no client, and so speaks for no participant: begin one with the client's name."
            self.init(.forbidden, text, field: "client")
        case .mayNotVeto(let client):
            self.init(
                .forbidden, "The participant \(quoted(client.description)) may not veto: it is not one that mayVeto.",
                field: "ready")
        case .foreignTransition(let id):
            self.init(.forbidden, "\(id) is not the client's own, and to revoke it needs the role admin.", field: "id")
        case .namelessSession:
            self.init(
                .forbidden,
                "The session has no client, and who guards something has a name: begin one with the client's name.",
                field: HeaderName.session.text)
        case .unknownGuard(let id):
            self.init(.notFound, "The scene has no guard \(id); it ends with its session.")
        case .foreignGuard(let id):
            self.init(.forbidden, "The guard \(id) is that of another session.", field: HeaderName.session.text)
        case .tooManyGuards(let limit):
            self.init(
                .queueFull,
                "No more than \(limit) controllers of a scene are guarded, and that many would be exceeded.",
                retryAfter: Self.retrySoon)
        case .tooManyGuardedScenes(let limit):
            self.init(
                .queueFull, "The session guards something in \(limit) scenes already, which is as many as it may.",
                retryAfter: Self.retrySoon)
        case .guarded(let guards):
            self.init(
                .guarded,
                "\(guards[0].client) guards what the operation would remove, and is not asked while a transition runs: give the "
                    + "operation with the request of the transition, or say ignoreGuards.")
        case .tooManySessions(let limit, let principal):
            self.init(
                .tooManySessions, "\(limit) sessions\(Self.words(for: principal)) are alive already.",
                retryAfter: Self.retrySoon)
        case .endedWithoutOwner(let view):
            self.init(
                view.codeAfterEnd,
                "\(view.transition.id) ended without its owner: \(view.outcomeText). \(view.changeText)")
            transition = view
            isApplied = view.isApplied
        case .recovering(let remaining):
            self.init(remainingHold: remaining)
        case .idempotencyKeyReused(let key):
            self.init(
                .idempotencyKeyReused,
                "Another request was made with the key \(quoted(key.description)); draw a new one.",
                field: HeaderName.idempotencyKey.text)
        case .queueFull(let limit, let isForStates):
            let waiting =
                isForStates ? "tickets and awaits wait for a state of this scene" : "tickets wait in this scene"
            self.init(.queueFull, "\(limit) \(waiting) already.", retryAfter: Self.retrySoon)
        case .tooManyTransitions(let limit, let principal):
            self.init(
                .tooManyTransitions, "\(limit) transitions\(Self.words(for: principal)) are unfinished already.",
                retryAfter: Self.retrySoon)
        case .lacksStorage:
            self.init(
                .outOfRoom,
                "etcd stores 80 % of what it may (--etcd-quota): what is unfinished can go on and end, and nothing new is "
                    + "admitted until there is room.",
                retryAfter: Self.roomPause)
        case .leaseTooLong(let limit, let isDefault):
            self.init(
                .invalidField,
                isDefault
                    ? "The scene's default lease is longer than the \(limit.inSeconds) seconds that --max-lease-seconds allows: "
                        + "give leaseSeconds."
                    : "The field \(quoted("leaseSeconds")) must be \(Limits.leaseDurations.lowerBound.inSeconds) to "
                        + "\(limit.inSeconds) seconds (--max-lease-seconds).",
                field: "leaseSeconds")
        case .recordTooLarge(let bytes, let limit):
            self.init(
                .bodyTooLarge,
                "The journal would keep \(bytes) bytes of it in one piece, and takes \(limit): declare less at once.")
        case .outOfRoom(let bytes):
            self.init(
                .outOfRoom,
                "The arbiter's state takes the \(bytes >> 20) MiB that it may (--max-memory): try again when others "
                    + "have ended theirs.",
                retryAfter: Self.retrySoon)
        case .shareUsedUp(let share, let bytes):
            self.init(.shareUsedUp, share.text(bytes: bytes), retryAfter: Self.retrySoon)
        case .tooManyScenes(let limit):
            self.init(
                .tooManyScenes, "There are \(limit) scenes, each in use or declared: delete one that is not needed.",
                retryAfter: Self.retrySoon)
        }
    }

    private static func words(for principal: PrincipalName?) -> String { principal.map { " of \($0)" } ?? "" }

    /// Something is unfinished in a scene that is to be another one, or none at all.
    init(unfinished busy: Busy) {
        self.init(.busy, "\(busy.holderName) is unfinished in the scene: ask again when it has ended.")
        self.busy = busy
    }

    /// A storyboard does not have any of the versions that `If-Match` names, or nobody has declared one.
    init(expectedTags: String, actual: StoryboardVersion?) {
        let found = actual.map { "the storyboard has the tag \($0.entityTag)" } ?? "nobody has declared the scene"
        self.init(
            .revisionMismatch, "If-Match says \(expectedTags), but \(found).", field: HeaderName.ifMatch.text)
        expected = expectedTags
        self.actual = actual?.entityTag ?? "absent"
    }

    /// Nothing is granted yet.
    init(remainingHold: Duration) {
        let seconds = Self.seconds(of: remainingHold)
        self.init(
            .recovering,
            "The machine died, or the journal lost its end: nothing is granted for \(seconds) seconds, until every lease of "
                + "before is over.",
            retryAfter: seconds)
    }

    /// A duration in whole seconds, after which it is over.
    static func seconds(of remaining: Duration) -> Int { Int(remaining.components.seconds) + 1 }

    /// After how many seconds a client that was refused for want of storage may ask again: when it has been measured again.
    static let roomPause = 10

    /// After so many seconds it may be worth another try.
    static let retrySoon = 1

    /// Refuses a question whose answer would be too much beside those on their way.
    static var tooManyLongAnswers: Problem {
        Problem(
            .tooManyConnections, "There are too many long answers on their way; try again.", retryAfter: retrySoon)
    }
}

extension Problem.Code {
    init(_ code: OperationRefusal.Code) {
        switch code {
        case .unknownController: self = .unknownController
        case .wrongKind: self = .wrongKind
        case .alreadyPresenting: self = .alreadyPresenting
        case .notVisible: self = .notVisible
        case .alreadyInHierarchy: self = .alreadyInHierarchy
        case .alreadyOnStack: self = .alreadyOnStack
        case .cannotPushContainer: self = .cannotPushContainer
        case .notOnStack: self = .notOnStack
        case .indexOutOfRange: self = .indexOutOfRange
        case .notAChild: self = .notAChild
        case .alreadyAChild: self = .alreadyAChild
        case .unknownColumn: self = .unknownColumn
        case .columnCollapsed: self = .columnCollapsed
        case .unknownSegue: self = .unknownSegue
        case .unknownTransitionType: self = .unknownTransitionType
        case .hierarchyTooLarge: self = .hierarchyTooLarge
        }
    }
}
