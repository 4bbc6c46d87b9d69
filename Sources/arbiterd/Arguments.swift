internal import ArgumentParser
internal import Glibc

/// The arguments of the process, with the settings that the environment and a file give.
enum Arguments {
    static var ofThisProcess: [String] { Array(CommandLine.arguments.dropFirst()) }

    /// The command that the arguments of the process name.
    static func parsed() throws -> any ParsableCommand {
        // Who starts a program with no arguments at all, or leaves its name out, has not said what it should do. Linux gives
        // it an empty name then (execve(2)).
        guard let name = CommandLine.arguments.first, !name.isEmpty, !name.hasPrefix("-") else {
            throw Failure(EX_USAGE, "the name of the program is missing before its arguments (argv[0])")
        }
        let given = ofThisProcess
        switch given.first {
        case "help":
            return try Arbiterd.parseAsRoot(given)
        case "version":
            return try Arbiterd.parseAsRoot(["--version"])
        case JournalCommand.name:
            return try parsed(
                given, takes: JournalCommand.settings(of: given.dropFirst().first),
                "inspect, verify, export, backup, restore, compact or copy")
        case AccessCommand.name:
            return try parsed(given, takes: Setting.all.filter { $0.name == "access" }, "new or list")
        case ConfigCommand.name:
            return try parsed(given, takes: Setting.all, "check or show")
        default:
            let others = try asksForHelp(given) ? [] : GivenSettings(given).arguments
            let command = try Arbiterd.parseAsRoot(others + given)
            // ArgumentParser has a help command of its own.
            guard !(command is any JournalSubcommand), !(command is any ConfigSubcommand),
                !(command is any AccessSubcommand)
            else {
                throw Failure(EX_USAGE, "name the subcommand first, and its options after it (see --help)")
            }
            return command
        }
    }

    /// A command that has subcommands, each with options of its own.
    private static func parsed(
        _ given: [String], takes settings: [Setting], _ subcommands: String
    ) throws -> any ParsableCommand {
        if asksForHelp(given) { return try Arbiterd.parseAsRoot(given) }
        // Before the subcommand, an option would be parsed as one of the daemon's and ignored.
        guard let subcommand = given.dropFirst().first, !subcommand.hasPrefix("-") else {
            throw Failure(EX_USAGE, "say what to do first: arbiterd \(given[0]) \(subcommands) (see --help)")
        }
        let others = try GivenSettings(given, only: settings).arguments
        return try Arbiterd.parseAsRoot(given.prefix(2) + others + given.dropFirst(2))
    }

    /// Help is available even if a variable of the environment is wrong.
    private static func asksForHelp(_ given: [String]) -> Bool {
        given.contains { ["-h", "--help", "--version"].contains($0) }
    }
}
