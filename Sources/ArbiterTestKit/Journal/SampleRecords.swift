internal import ArbiterCore
internal import ArbiterEngine

/// Records for tests of journals.
enum SampleRecords {
    /// Every kind of record, with every field at its usual and at its extreme values.
    static func ofEveryKind() -> [JournalEntry] {
        let records = requests.flatMap { request in
            Kind.allCases.flatMap { kind in samples(of: kind, request) }
        }
        return records.enumerated().map { index, record in
            JournalEntry(sequence: UInt64(index + 1), moment: moments[index % moments.count], record: record)
        }
    }

    /// This many records, all of them different.
    static func many(_ count: Int) -> [JournalEntry] {
        (1...UInt64(count)).map { number in
            let moment = Moment(
                instant: Instant(nanoseconds: Int64(number) * 1_000_003),
                timestamp: Timestamp(milliseconds: 1_767_225_600_000 + Int64(number)))
            let (id, token) = (TransitionID(rawValue: number), Token(high: number, low: ~number))
            let record: Record =
                number.isMultiple(of: 2)
                ? .end(id, token: token, .completed) : .start(TransitionRequest(), id: id, token: token)
            return JournalEntry(sequence: number, moment: moment, record: record)
        }
    }
}

extension SampleRecords {
    /// Records that were made under rules after rules, one right after the other.
    static func underChangingRules() -> [JournalEntry] {
        let all = Rules.allCases
        return many(100 * all.count).enumerated().map { index, entry in
            JournalEntry(sequence: entry.sequence, moment: entry.moment, record: entry.record, rules: all[index / 100])
        }
    }
}

// MARK: - Every kind of record

extension SampleRecords {
    /// The cases of `Record`; if one is missing here, `kind(of:)` does not compile.
    private enum Kind: CaseIterable {
        case start, serialize, end, revoke, revokeAll, update, decide, perform, markReady, veto, answerGuards, addGuard,
            removeGuard,
            markGone, expireUnclaimed,
            timeOutParticipants,
            openSession,
            endSession, declare, patch, delete, expire, interrupt, endInterrupted
        case adopt, distrust, skipFences, resume, stop
    }

    private static func kind(of record: Record) -> Kind {
        switch record {
        case .start: .start
        case .serialize: .serialize
        case .end: .end
        case .revoke: .revoke
        case .revokeAll: .revokeAll
        case .update: .update
        case .decide: .decide
        case .perform: .perform
        case .markReady: .markReady
        case .veto: .veto
        case .answerGuards: .answerGuards
        case .addGuard: .addGuard
        case .removeGuard: .removeGuard
        case .markGone: .markGone
        case .expireUnclaimed: .expireUnclaimed
        case .timeOutParticipants: .timeOutParticipants
        case .openSession: .openSession
        case .endSession: .endSession
        case .declare: .declare
        case .patch: .patch
        case .delete: .delete
        case .expire: .expire
        case .interrupt: .interrupt
        case .endInterrupted: .endInterrupted
        case .adopt: .adopt
        case .distrust: .distrust
        case .skipFences: .skipFences
        case .resume: .resume
        case .stop: .stop
        }
    }

    private static func samples(of kind: Kind, _ request: TransitionRequest) -> [Record] {
        let records: [Record] =
            switch kind {
            case .start: each { id, token in [.start(request, id: id, token: token)] }
            case .serialize: each { id, token in [.serialize(request, id: id, token: token)] }
            case .end: each { id, token in EndOutcome.allCases.map { .end(id, token: token, $0) } }
            case .revoke:
                each { id, _ in
                    let reason = GivenReason(unchecked: "hangs")
                    let principals = [nil, SampleCooperation.principal]
                    return principals.map { .revoke(id, Revocation(reason, by: $0)) }
                }
            case .revokeAll:
                [nil, SampleCooperation.client].flatMap { client in
                    [nil, SampleCooperation.principal].map { principal in
                        let revocation = Revocation(GivenReason(unchecked: "hangs"), by: principal)
                        return .revokeAll(.main, client: client, ownedBy: principal, revocation)
                    }
                }
            case .update: each { id, _ in SampleCooperation.updates.map { .update(id, $0) } }
            case .decide: each { id, _ in SampleCooperation.gestures.map { .decide(id, $0) } }
            case .perform:
                each { id, _ in SampleHierarchies.requests.compactMap(\.operation).map { .perform(id, $0) } }
            case .markReady: each { id, _ in [.markReady(id, client: SampleCooperation.client)] }
            case .veto:
                each { id, _ in
                    [nil, GivenReason(unchecked: "not saved")].map { .veto(id, by: SampleCooperation.client, $0) }
                }
            case .answerGuards: each { id, token in [.answerGuards(id, SessionID(rawValue: token.high))] }
            case .addGuard: SampleCooperation.guards.map { .addGuard(.main, $0) }
            case .removeGuard: numbers.map { .removeGuard(.main, GuardID(rawValue: $0)) }
            case .markGone: each { id, _ in [.markGone(id, client: SampleCooperation.client)] }
            case .expireUnclaimed: [.expireUnclaimed([]), .expireUnclaimed(numbers.map(TransitionID.init))]
            case .timeOutParticipants: each { id, _ in [.timeOutParticipants(id)] }
            case .openSession: SampleCooperation.openings
            case .endSession: SampleCooperation.closings
            case .declare: SampleHierarchies.storyboards.map { .declare(.main, $0) }
            case .patch: SampleHierarchies.patches.map { .patch(.main, $0) }
            case .delete: [.delete(.main)]
            case .expire: each { id, _ in ExpiryReason.allCases.map { .expire(id, $0) } }
            case .interrupt: each { id, _ in [.interrupt(id)] }
            case .endInterrupted: each { id, _ in [.endInterrupted(id)] }
            case .adopt: [.adopt(nil), .adopt(Limits().retention), .adopt(Limits().divided(among: 64).retention)]
            case .distrust: [.distrust(holdsGrants: false), .distrust(holdsGrants: true)]
            case .skipFences: [.skipFences]
            case .resume: [.resume]
            case .stop: [.stop]
            }
        precondition(records.allSatisfy { self.kind(of: $0) == kind }, "a sample of another kind than \(kind)")
        return records
    }

    private static func each(_ records: (TransitionID, Token) -> [Record]) -> [Record] {
        numbers.flatMap { number in
            records(TransitionID(rawValue: number), Token(high: number, low: number &+ 0x8000_0000_0000_0000))
        }
    }

    private static let numbers: [UInt64] = [0, 1, 0x7fff_ffff_ffff_ffff, 0x8000_0000_0000_0000, .max]

    private static let moments = [
        Moment(instant: Instant(nanoseconds: 0), timestamp: Timestamp(milliseconds: 0)),
        Moment(instant: Instant(nanoseconds: 1_234_567_890_123), timestamp: Timestamp(milliseconds: 1_767_225_600_001)),
        Moment(instant: Instant(nanoseconds: .max / 2), timestamp: Timestamp(milliseconds: 253_402_300_799_999)),
        Moment(instant: Instant(nanoseconds: -1), timestamp: Timestamp(milliseconds: -1)),
    ]

    private static let requests: [TransitionRequest] =
        [
            TransitionRequest(),
            TransitionRequest(
                scene: scene("Az09._-"), client: ClientName("x"), scope: .scene,
                lease: Limits.leaseDurations.lowerBound, ticket: Limits.ticketDurations.lowerBound,
                queue: Limits.queueDurations.lowerBound),
            TransitionRequest(
                scene: scene(String(repeating: "s", count: Limits.sceneNameBytes)),
                client: ClientName(String(repeating: "ü", count: Limits.clientNameBytes / 2)),
                lease: Limits.leaseDurations.upperBound, ticket: Limits.ticketDurations.upperBound,
                queue: Limits.queueDurations.upperBound),
            TransitionRequest(
                client: ClientName(#"it's "quoted" \ %41 🧑‍🚀 é é"#), lease: .nanoseconds(1_234_567_891),
                ticket: .nanoseconds(2_345_678_912), queue: .nanoseconds(1),
                idempotencyKey: IdempotencyKey(String(repeating: "~", count: Limits.idempotencyKeys.upperBound))),
        ] + SampleHierarchies.requests + SampleCooperation.requests

    private static func scene(_ text: String) -> SceneName {
        guard let name = SceneName(text) else { preconditionFailure("\(text) is no scene's name") }
        return name
    }
}
