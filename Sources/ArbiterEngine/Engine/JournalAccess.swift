internal import ArbiterCore

/// The journal of an engine, and whether it can be used.
///
/// A lost journal stays lost, for the first reason or because another process may go on. All others change as follows:
///
/// | from | to | when |
/// | --- | --- | --- |
/// | working | stalled | it takes no commits for now |
/// | stalled | working | it commits again, by itself |
/// | working, stalled, failed | failed | it has failed, or could not be opened again; there is another try after a pause |
/// | failed | working | it was opened again |
/// | working, stalled, failed | lost | trying again does not help, or the engine is over |
struct JournalAccess {
    private(set) var journal: any Journal
    /// Counts how often the engine has opened it, so that commits of an earlier one are ignored.
    private(set) var era = 0
    private var condition = Condition.working(afterPause: nil)
    /// What has happened in a stall and cannot be told again; it is noted when the journal goes on.
    private var missed: [Engine.MissedEvent] = []

    private enum Condition {
        /// With the pause before the try that opened it; without one if a commit has succeeded since.
        case working(afterPause: Duration?)
        case stalled(JournalError)
        case failed(JournalError, pause: Duration)
        case lost(JournalError)
    }

    init(_ journal: any Journal) { self.journal = journal }

    /// Why it cannot be used now; `nil` if it can.
    var failure: JournalError? {
        switch condition {
        case .working: nil
        case .stalled(let error), .failed(let error, _), .lost(let error): error
        }
    }

    /// Whether it has failed, and is to be opened again.
    var awaitsTry: Bool {
        if case .failed = condition { true } else { false }
    }

    /// It takes no commits for now.
    ///
    /// - Returns: whether it was working.
    mutating func stall(_ error: JournalError) -> Bool {
        guard case .working = condition else { return false }
        (condition, missed) = (.stalled(error), [])
        return true
    }

    /// Keeps an event until the end of a stall; otherwise it is as if the process had not been there.
    mutating func miss(_ event: @escaping Engine.MissedEvent) {
        if case .stalled = condition { missed.append(event) }
    }

    /// It has committed something.
    ///
    /// - Returns: what was missed in the stall that ends; `nil` if there was none.
    mutating func noteCommit() -> [Engine.MissedEvent]? {
        switch condition {
        case .working(afterPause: nil), .failed, .lost: return nil
        case .working:
            condition = .working(afterPause: nil)
            return nil
        case .stalled:
            condition = .working(afterPause: nil)
            defer { missed = [] }
            return missed
        }
    }

    /// It has failed, and another try may help.
    ///
    /// - Returns: the pause until that; `nil` if the journal is lost.
    mutating func fail(_ error: JournalError) -> Duration? {
        let before: Duration?
        switch condition {
        case .working(let pause): before = pause
        case .stalled: before = nil
        case .failed(_, let pause): before = pause
        case .lost: return nil
        }
        let pause = before.map { min($0 * 2, JournalRecovery.longestPause) } ?? JournalRecovery.shortestPause
        // Clients are told the newest cause, and when the next try is.
        let failure = JournalError(
            error.kind, reason: "\(error.reason); the daemon tries again within \(pause.components.seconds) s",
            retryAfter: pause)
        condition = .failed(failure, pause: pause)
        return pause
    }

    /// It is not used any more.
    mutating func lose(_ error: JournalError) {
        if case .lost = condition { return }
        condition = .lost(error)
    }

    /// It is not used any more, because another process may go on with it.
    ///
    /// This replaces every earlier failure but a stop.
    mutating func abandon(_ error: JournalError) {
        if case .lost(let earlier) = condition, earlier.kind == .closed { return }
        condition = .lost(error)
    }

    /// It was opened again after it had failed.
    ///
    /// - Returns: whether it is used; not so if it was lost meanwhile.
    mutating func resume(on journal: any Journal) -> Bool {
        guard case .failed(_, let pause) = condition else { return false }
        self.journal = journal
        era += 1
        condition = .working(afterPause: pause)
        return true
    }
}
