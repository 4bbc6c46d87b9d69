internal import ArgumentParser

/// The command line client of `arbiterd`.
@main
struct Arbiterctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "arbiterctl",
        abstract: "Uses the locks of arbiterd from a shell.",
        discussion: """
            The daemon is found by --url, or else by ARBITER_URL: http://…, https://… or unix:/path. If it has access \
            control, the token is read from --token-file, or else from ARBITER_TOKEN.
            """,
        subcommands: [RunCommand.self, WatchCommand.self]
    )
}
