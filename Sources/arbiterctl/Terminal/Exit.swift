/// The exit codes of `arbiterctl`, besides those of the command that `run` runs.
enum Exit {
    /// The lock was lost while the command ran.
    static let lost: Int32 = 123
    /// The turn did not come in time, or another one was in the way.
    static let timedOut: Int32 = 124
    /// The daemon cannot be reached, or refuses.
    static let failed: Int32 = 125
    /// The command cannot be executed.
    static let notExecutable: Int32 = 126
    /// There is no such command.
    static let notFound: Int32 = 127

    /// Tells what went wrong, on standard error.
    static func tell(_ text: String) { Terminal.error.line("arbiterctl: \(text.printable)") }
}
