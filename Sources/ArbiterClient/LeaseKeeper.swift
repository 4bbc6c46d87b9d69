internal import Foundation
internal import Synchronization

/// Keeps a transition until it has ended.
///
/// It does not refer to the ``HeldTransition``, so that this is given back when nothing else refers to it.
final class LeaseKeeper: Sendable {
    private let ticket: PendingTransition
    private let arbiter: Arbiter
    private let state: Mutex<State>

    private struct State {
        /// How it was ended by its owner, or before it was held; `nil` while it runs, and if it was lost.
        var ended: JSONValue?
        /// How it ended without its owner; `nil` if it did not.
        var loss: EndedTransition?
        /// Whether its owner ends it now.
        var isEnding = false
        /// What is heard of its end meanwhile: it is the owner's, or counts after a refusal.
        var unseen: [EndedTransition] = []
        /// Whether it need not be kept any longer, because its owner has ended it or has lost it.
        var isOver = false
        /// How often the daemon was asked in vain since its last answer.
        var failures = 0
        var keeping: Task<Void, Never>?
        /// Passes the time until the next attempt.
        var pause: Task<Void, Never>?
        /// Its interruption, once that has been heard of.
        var interruption: JSONValue?
        var waiting: [Int: Waiting] = [:]
        var lastWaiting = 0
    }

    /// Who waits until it is over, or until its interruption begins.
    private struct Waiting {
        let continuation: CheckedContinuation<Void, Never>
        let isOverWhenInterrupted: Bool
    }

    init(_ ticket: PendingTransition, of arbiter: Arbiter) {
        self.ticket = ticket
        self.arbiter = arbiter
        // The answer that claims the grant may have been the first to say that it is interrupted.
        let interruption = ticket.hasEnded ? nil : ticket.document?["interruption"]
        state = Mutex(
            State(
                ended: ticket.hasEnded ? ticket.shown : nil, isOver: ticket.hasEnded, interruption: interruption))
        guard !ticket.hasEnded else { return }
        let keeping = Task { await self.keep() }
        state.withLock { $0.keeping = keeping }
        arbiter.note(held: self)
    }

    /// How it was lost; `nil` while it is not.
    var loss: EndedTransition? { state.withLock { $0.loss } }

    /// How its owner has ended it, or it had ended before it was held.
    var endedByOwner: JSONValue? { state.withLock { $0.loss == nil ? $0.ended : nil } }

    /// Whether the daemon was asked twice in vain since its last answer; once may be because this process was stopped.
    var isUnanswered: Bool { state.withLock { $0.failures > 1 } }

    /// Its interruption, once that has been heard of.
    var interruption: JSONValue? { state.withLock { $0.interruption } }

    /// Returns as soon as it is lost, its owner has ended it, or the task is cancelled; or also once its interruption begins.
    func untilOver(orInterrupted isOverWhenInterrupted: Bool = false) async {
        let number = state.withLock { state in
            state.lastWaiting += 1
            return state.lastWaiting
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    let isInterrupted = isOverWhenInterrupted && state.interruption != nil
                    guard !state.isOver, !isInterrupted, !Task.isCancelled else { return true }
                    state.waiting[number] = Waiting(
                        continuation: continuation, isOverWhenInterrupted: isOverWhenInterrupted)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.continuation.resume()
        }
    }

    // MARK: - Ending

    /// Ends it; without an outcome as its gesture was decided.
    ///
    /// - Throws: `ClientError.ended` if it is lost; `refused`, after which it is kept on; `unreachable`; `CancellationError`.
    func end(_ outcome: String?) async throws -> JSONValue {
        if let loss { throw ClientError.ended(loss) }
        state.withLock { $0.isEnding = true }
        let ended: JSONValue
        do {
            ended = try await askForEnd(outcome)
        } catch ClientError.refused(let refusal) {
            refuseEnd()
            throw ClientError.refused(refusal)
        } catch {
            finishEnd(nil)
            // Nobody else ends it if the task is cancelled.
            if !(error is ClientError) { giveBack() }
            throw error
        }
        finishEnd(ended)
        // Its await is answered by the end, so that no connection is cut.
        await state.withLock { $0.keeping }?.value
        return ended
    }

    private func askForEnd(_ outcome: String?) async throws -> JSONValue {
        try await arbiter.act("end", on: ticket, outcome.map { ["outcome": .string($0)] } ?? [:]).accepted()
    }

    private func finishEnd(_ ended: JSONValue?) {
        tell { state in (state.ended, state.isOver) = (ended, true) }
    }

    /// It goes on, as far as is known, and is kept.
    private func refuseEnd() {
        let unseen = state.withLock { state in
            state.isEnding = false
            return state.unseen.first
        }
        if let unseen { lose(unseen) }
    }

    /// Nobody refers to it any more.
    func forget() {
        guard !isOver else { return }
        let text = "arbiter: \(ticket.id) was not ended while somebody referred to it; it is given back\n"
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
        giveBack()
    }

    /// Nobody holds it any more.
    func giveBack() {
        tell { state in state.isOver = true }
        Task { [arbiter, ticket] in await arbiter.giveUp(ticket) }
    }

    /// The client is closed, and its session with it.
    func loseSession() {
        let members = ticket.shown.object ?? [:]
        let ended = members.merging(["state": "ended", "outcome": "expired", "reason": "session-lost"]) { $1 }
        lose(EndedTransition(.object(ended)))
        state.withLock { $0.keeping }?.cancel()
    }

    /// Says that it has ended without its owner, unless its owner is ending it.
    private func lose(_ loss: EndedTransition) {
        tell { state in
            if state.isEnding { return state.unseen.append(loss) }
            if !state.isOver { (state.loss, state.isOver) = (loss, true) }
        }
    }

    /// Notes something, and tells those that wait for it.
    private func tell(_ note: (inout State) -> Void) {
        let told = state.withLock { state -> [Waiting] in
            note(&state)
            if state.isOver { state.pause?.cancel() }
            let told = state.waiting.filter { waiting in
                state.isOver || state.interruption != nil && waiting.value.isOverWhenInterrupted
            }
            for number in told.keys { state.waiting[number] = nil }
            return Array(told.values)
        }
        for waiting in told { waiting.continuation.resume() }
    }

    // MARK: - Keeping

    private var isOver: Bool { state.withLock { $0.isOver } }

    private func keep() async {
        let loss = await untilEnded()
        arbiter.note(over: self)
        lose(loss)
    }

    /// How it has ended, once it has or its lease may have run out.
    ///
    /// A request is answered within a sixth of the lease, so that two thirds of the lease are left at any time. After a
    /// failure the next one is not parked, and they follow each other the faster, the less is left of the lease, which is
    /// counted from the sending of the last one that was answered. If no such one was asked shortly before its end, this
    /// process was stopped, the machine slept, or it ends now by its longest hold: then the daemon is asked once more.
    private func untilEnded() async -> EndedTransition {
        let longest = min(ticket.lease / 6, WireTimes.longestWait)
        let margin = min(WireTimes.margin, max(WireTimes.keepingMargin, ticket.lease / 6))
        var headers = ticket.headers
        var (wait, backoff) = (longest, Backoff(longest: WireTimes.longestDelay))
        var (asked, isLast) = (ContinuousClock.Instant?.none, false)
        while !isOver, !Task.isCancelled, !isLast {
            let left = ticket.heldUntil - .now
            if left <= .zero {
                if let asked, .now - asked <= margin { break }
                (wait, isLast) = (.zero, true)
            }
            var delay = backoff.next()
            // The less is left, the shorter are the asks; but each is long enough for a slow network.
            let patience = wait > .zero ? wait + margin : min(WireTimes.margin, max(margin, left / 2))
            let timeout = isLast ? margin : min(patience, left)
            // One that is cut short by the end of the lease says nothing.
            if wait == .zero, timeout >= margin / 2 { asked = .now }
            switch await askWhetherItRuns(wait, headers, timeout: timeout) {
            case .runs(let end, let interruption):
                ticket.hold(until: end)
                tell { state in
                    state.failures = 0
                    state.interruption = state.interruption ?? interruption
                }
                (wait, backoff) = (longest, Backoff(longest: WireTimes.longestDelay))
                (asked, isLast) = (nil, false)
                continue
            case .ended(let ending): return ending
            case .refused(let refusal):
                // Without the token of its session, which has ended, the daemon says what became of it.
                guard Arbiter.isOverForSession(refusal), headers.removeValue(forKey: Arbiter.sessionField) != nil else {
                    return EndedTransition(unseen: refusal)
                }
                (asked, isLast) = (nil, false)
                continue
            case .failed(let retryAfter):
                delay = max(delay, retryAfter)
                state.withLock { $0.failures += 1 }
            }
            wait = .zero
            await pass(min(ticket.heldUntil - .now, max(WireTimes.shortestDelay, min(delay, left / 4))))
        }
        return EndedTransition(unseen: nil)
    }

    /// What the daemon says of it.
    private enum Report {
        /// It runs, and its lease lasts certainly until then; it may be interrupted.
        case runs(until: ContinuousClock.Instant, interruption: JSONValue?)
        case ended(EndedTransition)
        /// The daemon does not know it any more, or not this client.
        case refused(Refusal)
        /// Nothing, and it asks to wait for so long.
        case failed(retryAfter: Duration)
    }

    private func askWhetherItRuns(_ wait: Duration, _ headers: [String: String], timeout: Duration) async -> Report {
        let body = ticket.named(["until": "ended", "wait": .number(wait.inSeconds)])
        let request = WireRequest("POST", "/transitions/await", body, headers: headers, timeout: timeout)
        guard let answer = try? await arbiter.sendOnce(request) else { return .failed(retryAfter: .zero) }
        guard answer.decides else { return .failed(retryAfter: answer.retryAfter) }
        if answer.status >= 400 {
            if let ended = answer.document["transition"] { return .ended(EndedTransition(ended)) }
            return .refused(Refusal(status: answer.status, answer.document))
        }
        if answer.document["state"] == "ended" { return .ended(EndedTransition(answer.document)) }
        let left = answer.document["leaseRemaining"]?.number.map { Duration.seconds($0) }
        return .runs(until: answer.sent + (left ?? ticket.lease), interruption: answer.document["interruption"])
    }

    /// Passes so much time, or less if it is over.
    private func pass(_ duration: Duration) async {
        let pause = Task { _ = try? await Task.sleep(for: duration) }
        state.withLock { state in
            state.pause = pause
            if state.isOver { pause.cancel() }
        }
        await pause.value
    }
}
