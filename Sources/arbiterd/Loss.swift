internal import ArbiterEngine

/// Why the daemon has to end, should its journal be lost.
final class Loss: Sendable {
    /// How long clients are still told why.
    private static let patience = Duration.seconds(1)

    private let state = Guarded(JournalError?.none)
    private let alarm = SystemAlarm()

    var error: JournalError? { state.withLock { $0 } }

    /// Ends the daemon, a moment later, so that requests which are being served learn the reason.
    func note(_ error: JournalError) {
        state.withLock { $0 = error }
        alarm.ring(after: Self.patience) { Signals.interrupt() }
    }
}
