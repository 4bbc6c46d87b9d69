internal import ArbiterClient

/// The exit codes of `arbiterctl`, besides those of the command that `run` runs.
enum Exit {
    /// The command line is wrong, or a file that it names cannot be used.
    static let misused: Int32 = 64
    /// The transition ended without its owner.
    static let lost: Int32 = 123
    /// The turn did not come in time, or another transition was in the way.
    static let timedOut: Int32 = 124
    /// The daemon cannot be reached, or refuses; or standard output cannot be written.
    static let failed: Int32 = 125
    /// The command cannot be executed.
    static let notExecutable: Int32 = 126
    /// There is no such command.
    static let notFound: Int32 = 127

    /// The exit code for what the daemon says, or for why it cannot be reached.
    static func code(of error: ClientError) -> Int32 {
        switch error {
        case .timedOut, .blockedBySelf: timedOut
        case .ended: lost
        // It has ended without its owner.
        case .refused(let refusal) where refusal.status == 410: lost
        case .refused, .unreachable, .closed: failed
        }
    }

    /// Tells what went wrong, on standard error.
    static func tell(_ text: String) { Terminal.error.line("arbiterctl: \(text.printable)") }
}

/// Why a command fails, for people, and its exit code.
struct Failure: Error {
    let code: Int32
    let text: String
}
