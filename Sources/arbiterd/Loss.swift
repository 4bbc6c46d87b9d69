internal import ArbiterEngine

/// The error because of which the journal is lost, and the daemon has to exit.
final class Loss: Sendable {
    /// How long requests are still answered with the reason.
    private static let patience = Duration.seconds(1)

    private let state = Guarded(JournalError?.none)
    private let alarm = SystemAlarm()

    var error: JournalError? { state.withLock { $0 } }

    /// Why the daemon has to exit; `nil` if it has not.
    var reason: String? { error?.reason }

    /// Ends the daemon after a delay, so that requests which are being served get the reason.
    func note(_ error: JournalError) {
        state.withLock { $0 = error }
        alarm.ring(after: Self.patience) { Signals.interrupt() }
    }
}
