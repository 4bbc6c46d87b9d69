internal import ArbiterClient
internal import ArgumentParser

/// The command line client of `arbiterd`.
@main
struct Arbiterctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "arbiterctl",
        abstract: "Uses the locks of arbiterd from a shell.",
        discussion: """
            The daemon is found by --url, or else by ARBITER_URL: http://…, https://… or unix:/path. If it has access \
            control, the token is read from --token-file, or else from ARBITER_TOKEN. A variable that is empty counts as \
            unset.

            Exit codes: 64 the command line is wrong or a file that it names cannot be used, 123 the transition was lost, \
            124 the turn did not come in time, 125 the daemon cannot be reached or refuses, or standard output cannot be \
            written.
            """,
        version: Tool.version,
        groupedSubcommands: [
            CommandGroup(name: "Holding a lock", subcommands: [RunCommand.self]),
            CommandGroup(
                name: "Transitions, one step at a time",
                subcommands: [
                    StartCommand.self, SerializeCommand.self, AwaitCommand.self, RenewCommand.self,
                    PerformCommand.self, ProgressCommand.self, ReleaseCommand.self, EndCommand.self,
                    RevokeCommand.self,
                ]),
            CommandGroup(
                name: "Looking",
                subcommands: [
                    ScenesCommand.self, TreeCommand.self, QueueCommand.self, TopCommand.self, WatchCommand.self,
                    TraceCommand.self,
                ]),
            CommandGroup(name: "Scenes", subcommands: [StoryboardCommand.self]),
            CommandGroup(name: "The daemon", subcommands: [DoctorCommand.self]),
        ]
    )

    /// Runs a command; what the daemon or a file makes it fail with is told in one line, without the usage.
    static func main() async {
        Terminal.holdClosed()
        do {
            try Tool.checkName()
            var command = try await asyncParseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let failure as Failure {
            Exit.tell(failure.text)
            exit(withError: ExitCode(failure.code))
        } catch let error as ClientError {
            Exit.tell("\(error)")
            exit(withError: ExitCode(Exit.code(of: error)))
        } catch {
            // Help is output like any other.
            if exitCode(for: error) == .success, case let text = fullMessage(for: error), !text.isEmpty {
                Terminal.output.line(text)
                exit()
            }
            exit(withError: error)
        }
    }
}
