internal import ArbiterClient
internal import ArgumentParser

/// How long a wait may take.
struct WaitOption: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How long to wait; for ever unless given. 0 only tries.", valueName: "seconds"))
    var wait: Double?

    func validate() throws {
        guard wait.map({ 0...86_400 ~= $0 }) ?? true else {
            throw ValidationError("--wait must be 0 to 86400 seconds")
        }
    }

    /// When the wait is over, if it begins now.
    var deadline: Deadline { Deadline(instant: wait.map { .now + .seconds($0) }) }
}

/// When a wait is over that takes several requests.
struct Deadline {
    /// `nil` if it lasts for ever.
    let instant: ContinuousClock.Instant?

    var isOver: Bool { instant.map { $0 <= .now } ?? false }

    /// How long the next request may wait.
    func nextWait(atMost longest: Duration = WireTimes.longestWait) -> Duration {
        guard let instant else { return longest }
        return max(.zero, min(instant - .now, longest))
    }
}
