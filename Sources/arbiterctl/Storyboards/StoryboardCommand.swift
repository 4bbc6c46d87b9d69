internal import ArbiterClient
internal import ArgumentParser

/// `arbiterctl storyboard`.
struct StoryboardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storyboard",
        abstract: "Reads, declares, checks and compares what is declared about a scene.",
        subcommands: [
            StoryboardGetCommand.self, StoryboardSetCommand.self, StoryboardCheckCommand.self,
            StoryboardDiffCommand.self,
        ])
}

/// `arbiterctl storyboard get`.
struct StoryboardGetCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Writes the storyboard as it is now, as JSON.",
        discussion: "It needs the role observe where there is access control.")

    @OptionGroup var connection: Connection
    @OptionGroup var scene: SceneOption

    func run(_ arbiter: Arbiter) async throws {
        let path = arbiter.scene(scene.name).path("/storyboard")
        let storyboard = try await arbiter.ask(WireRequest("GET", path)).accepted()
        Terminal.output.line(storyboard.text(isIndented: true))
    }
}

/// `arbiterctl storyboard set`.
struct StoryboardSetCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Declares a scene, in place of what was declared before.",
        discussion: "The scene must be idle. It needs the role design where there is access control."
    )

    @OptionGroup var connection: Connection
    @OptionGroup var scene: SceneOption
    @OptionGroup var file: StoryboardFile

    @Flag(help: "Only if nobody has declared the scene; otherwise it stays as it is, which is no error.")
    var ifUndeclared = false

    func run(_ arbiter: Arbiter) async throws {
        let declared = try await arbiter.scene(scene.name).declare(try file.read(), ifUndeclared: ifUndeclared)
        Terminal.output.line(
            declared.map { "\(scene.name) is declared, revision \(Int($0["revision"]?.number ?? 0))" }
                ?? "\(scene.name) was declared before")
    }
}

/// `arbiterctl storyboard check`.
struct StoryboardCheckCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Says whether a file could be declared; nothing is declared.",
        discussion: "It needs the role design where there is access control.")

    @OptionGroup var connection: Connection
    @OptionGroup var scene: SceneOption
    @OptionGroup var file: StoryboardFile

    func run(_ arbiter: Arbiter) async throws {
        _ = try await file.checked(arbiter, scene.name)
        Terminal.output.line("\(file.path) is correct")
    }
}

/// `arbiterctl storyboard diff`.
struct StoryboardDiffCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Shows how a file differs from what the scene has now.",
        discussion: """
            Lines with - are the scene's, lines with + the file's; what the file leaves to a default is filled in. Exit \
            code 1 says that they differ. It needs the roles design and observe where there is access control.
            """
    )

    @OptionGroup var connection: Connection
    @OptionGroup var scene: SceneOption
    @OptionGroup var file: StoryboardFile

    func run(_ arbiter: Arbiter) async throws {
        let new = try await file.checked(arbiter, scene.name)
        let path = arbiter.scene(scene.name).path("/storyboard")
        let old = try await arbiter.ask(WireRequest("GET", path)).accepted()
        guard old != new else { return }
        for line in LineDifference(from: lines(old), to: lines(new)).lines {
            switch line.first {
            case "-": Terminal.output.line(Terminal.output.styled(line, .red))
            case "+": Terminal.output.line(Terminal.output.styled(line, .green))
            default: Terminal.output.line(line)
            }
        }
        throw ExitCode(1)
    }

    private func lines(_ document: JSONValue) -> [String] {
        document.text(isIndented: true).split(separator: "\n").map { String($0) }
    }
}
