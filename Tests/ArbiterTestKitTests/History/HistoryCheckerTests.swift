import ArbiterTestKit
import Testing

/// The checker is only worth its name if it passes what is sound and finds what is not.
struct HistoryCheckerTests {
    /// Two that had their turns one after the other.
    private static let sound = [
        Seen.serialize("a", at: 0...10, .running(fence: 1)),
        Seen.serialize("b", at: 20...30, .queued),
        Seen.end("a", at: 40...50, .ended(fence: 1, "completed")),
        Seen.await("b", at: 35...51, .running(fence: 2)),
        Seen.end("b", at: 60...70, .ended(fence: 2, "completed")),
        Seen.look("a", at: 80...90, .ended(fence: 1, "completed")),
        Seen.look("b", at: 80...90, .ended(fence: 2, "completed")),
    ]

    private func expect(_ part: String?, in calls: [ObservedCall], location: SourceLocation = #_sourceLocation) {
        let violations = HistoryChecker(calls).violations()
        if let part {
            #expect(violations.contains { $0.contains(part) }, "\(violations)", sourceLocation: location)
        } else {
            #expect(violations == [], sourceLocation: location)
        }
    }

    @Test func `a sound history passes, in whatever order it was recorded`() {
        expect(nil, in: Self.sound)
        expect(nil, in: Self.sound.reversed())
        expect(nil, in: [])
    }

    @Test func `an overtaking is found`() {
        expect(
            "b was granted before a",
            in: [
                Seen.serialize("a", at: 0...10, .queued), Seen.serialize("b", at: 20...30, .queued),
                Seen.await("b", at: 40...50, .running(fence: 1)),
                Seen.end("b", at: 60...70, .ended(fence: 1, "completed")),
                Seen.await("a", at: 80...90, .running(fence: 2)),
            ])
    }

    @Test func `two that were asked for at the same time may come in either order`() {
        expect(
            nil,
            in: [
                Seen.serialize("a", at: 0...10, .queued), Seen.serialize("b", at: 5...30, .queued),
                Seen.await("b", at: 40...50, .running(fence: 1)),
                Seen.end("b", at: 60...70, .ended(fence: 1, "completed")),
                Seen.await("a", at: 80...90, .running(fence: 2)),
            ])
    }

    @Test func `a repeated fence is found`() {
        expect(
            "have the same fence 1",
            in: Self.sound + [
                Seen.start("c", at: 100...110, .running(fence: 1)),
                Seen.end("c", at: 120...130, .ended(fence: 1, "completed")),
            ])
    }

    @Test func `a fence that shrinks is found`() {
        expect("c got fence 0 after b got 2", in: Self.sound + [Seen.start("c", at: 100...110, .running(fence: 0))])
        // Seen to wait when the other had been granted already.
        expect(
            "b got fence 1 after c got 5",
            in: [
                Seen.serialize("b", at: 0...10, .queued), Seen.serialize("c", at: 5...20, .running(fence: 5)),
                Seen.await("b", at: 30...40, .queued), Seen.end("c", at: 45...46, .ended(fence: 5, "completed")),
                Seen.await("b", at: 50...60, .running(fence: 1)),
            ])
    }

    @Test func `two fences of one transition are found`() {
        expect(
            "a has the fences [1, 7]", in: Self.sound + [Seen.look("a", at: 100...110, .ended(fence: 7, "completed"))])
    }

    @Test func `two outcomes are found`() {
        expect(
            "a ended as", in: Self.sound + [Seen.look("a", at: 100...110, .ended(fence: 1, "cancelled"))])
    }

    @Test func `two holders at once are found`() {
        let both = [
            Seen.serialize("a", at: 0...10, .running(fence: 1)), Seen.serialize("b", at: 20...30, .running(fence: 2)),
            Seen.end("a", at: 40...50, .ended(fence: 1, "completed")),
        ]
        expect("a and b were held at once", in: both)
        // Even where nobody ever ended the first: its lease had not run out.
        expect("a and b were held at once", in: both.dropLast())
    }

    @Test func `a holder whose lease may have run out holds nothing`() {
        let (second, lease) = (UInt64(1_000_000_000), UInt64(10_000_000_000))
        let late = lease + second
        expect(
            nil,
            in: [
                Seen.serialize("a", at: 0...10, .running(fence: 1)),
                Seen.serialize("b", at: late...late + 1, .running(fence: 2)),
            ])
        expect(
            "a and b were held at once",
            in: [
                Seen.serialize("a", at: 0...10, .running(fence: 1)),
                Seen.renew("a", at: 5 * second...5 * second + 1, .running(fence: 1)),
                Seen.serialize("b", at: late...late + 1, .running(fence: 2)),
            ])
    }

    @Test func `a lost answer is found`() {
        expect("a was known, and is not any more", in: Self.sound + [Seen.forgotten("a", at: 100...110)])
        expect(
            "a was ended, and is running again", in: Self.sound + [Seen.look("a", at: 100...110, .running(fence: 1))])
        expect("b was running, and is queued again", in: Self.sound + [Seen.await("b", at: 52...53, .queued)])
    }

    @Test func `a key that made two transitions is found`() {
        expect("the key key-a made", in: Self.sound + [Seen.serialize("c", key: "key-a", at: 100...110, .queued)])
    }

    @Test func `two tokens of one transition are found`() {
        let again = ObservedTransition(id: "a", state: "ended", token: "another", fence: 1, outcome: "completed")
        expect(
            "a has two tokens",
            in: Self.sound + [
                ObservedCall(
                    scene: "main", question: .serialize(key: "key-a"), sent: 100, answered: 110,
                    answer: .transition(again))
            ])
    }

    @Test func `a call without an answer may have been done, or not`() {
        let unanswered = ObservedCall(
            scene: "main", question: .end(id: "a", as: "completed"), sent: 15, answered: 16, answer: nil)
        let next = Seen.serialize("b", at: 20...30, .running(fence: 2))
        let held = Seen.serialize("a", at: 0...10, .running(fence: 1))
        expect(nil, in: [held, unanswered, next])
        // Nor had it been done when somebody looked.
        expect(nil, in: [held, unanswered, Seen.look("a", at: 40...50, .running(fence: 1))])
        let asking = ObservedCall(
            scene: "main", question: .serialize(key: "key-a"), sent: 0, answered: 1, answer: nil)
        expect(nil, in: [asking] + Self.sound)
    }

    @Test func `scenes know nothing of one another`() {
        let elsewhere = Self.sound.map { call in
            ObservedCall(
                scene: "other", question: call.question.renamed, sent: call.sent, answered: call.answered,
                answer: call.answer?.renamed)
        }
        expect(nil, in: Self.sound + elsewhere)
    }
}

// MARK: - Histories, in a word

private enum Seen {
    enum State {
        case queued
        case running(fence: Int)
        case ended(fence: Int, String)
    }

    static func start(_ id: String, at time: ClosedRange<UInt64>, _ state: State) -> ObservedCall {
        call(id, .start(key: "key-\(id)"), time, state)
    }

    static func serialize(
        _ id: String, key: String? = nil, at time: ClosedRange<UInt64>, _ state: State
    ) -> ObservedCall {
        call(id, .serialize(key: key ?? "key-\(id)"), time, state)
    }

    static func await(_ id: String, at time: ClosedRange<UInt64>, _ state: State) -> ObservedCall {
        call(id, .await(id: id), time, state)
    }

    static func renew(_ id: String, at time: ClosedRange<UInt64>, _ state: State) -> ObservedCall {
        call(id, .renew(id: id), time, state)
    }

    static func end(_ id: String, at time: ClosedRange<UInt64>, _ state: State) -> ObservedCall {
        call(id, .end(id: id, as: "completed"), time, state)
    }

    static func look(_ id: String, at time: ClosedRange<UInt64>, _ state: State) -> ObservedCall {
        call(id, .look(id: id), time, state)
    }

    static func forgotten(_ id: String, at time: ClosedRange<UInt64>) -> ObservedCall {
        ObservedCall(
            scene: "main", question: .look(id: id), sent: time.lowerBound, answered: time.upperBound,
            answer: .refused("unknown-transition"))
    }

    private static func call(
        _ id: String, _ question: ObservedCall.Question, _ time: ClosedRange<UInt64>, _ state: State
    ) -> ObservedCall {
        let transition =
            switch state {
            case .queued: ObservedTransition(id: id, state: "queued")
            case .running(let fence): ObservedTransition(id: id, state: "running", fence: fence)
            case .ended(let fence, let outcome):
                ObservedTransition(id: id, state: "ended", token: "token", fence: fence, outcome: outcome)
            }
        return ObservedCall(
            scene: "main", question: question, sent: time.lowerBound, answered: time.upperBound,
            answer: .transition(transition))
    }
}

extension ObservedCall.Question {
    fileprivate var renamed: Self {
        switch self {
        case .start(let key): .start(key: "other \(key)")
        case .serialize(let key): .serialize(key: "other \(key)")
        case .await(let id): .await(id: "other \(id)")
        case .renew(let id): .renew(id: "other \(id)")
        case .end(let id, let outcome): .end(id: "other \(id)", as: outcome)
        case .look(let id): .look(id: "other \(id)")
        }
    }
}

extension ObservedCall.Answer {
    fileprivate var renamed: Self {
        guard case .transition(let seen) = self else { return self }
        return .transition(
            ObservedTransition(
                id: "other \(seen.id)", state: seen.state, token: seen.token, fence: seen.fence, outcome: seen.outcome))
    }
}
