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
        discussion: """
            With --tag it writes the tag of the storyboard, which changes with every change, for set --if-match. What is to be \
            changed must be read after the tag. It needs the role observe where there is access control.
            """
    )

    @OptionGroup var connection: Connection
    @OptionGroup var scene: SceneOption

    @Flag(name: .customLong("tag"), help: "Write only its tag (ETag), with its quotation marks.")
    var isTagWanted = false

    func run(_ arbiter: Arbiter) async throws {
        let path = arbiter.scene(scene.name).path("/storyboard")
        let answer = try await arbiter.ask(WireRequest("GET", path))
        let storyboard = try answer.accepted()
        Terminal.output.line(isTagWanted ? answer.tag ?? "" : storyboard.text(isIndented: true))
    }
}

/// `arbiterctl storyboard set`.
struct StoryboardSetCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Declares a scene, in place of what was declared before.",
        discussion: """
            The scene must be idle. It needs the role design where there is access control.

            With --if-match, what somebody else has changed meanwhile is not replaced; exit code 125 says so. It says the same \
            if the answer was lost and the request was sent again, although the first one had declared the scene.

                tag=$(arbiterctl storyboard get --tag)
                arbiterctl storyboard get > scene.json && "$EDITOR" scene.json
                arbiterctl storyboard set --if-match "$tag" scene.json
            """
    )

    @OptionGroup var connection: Connection
    @OptionGroup var scene: SceneOption
    @OptionGroup var file: StoryboardFile

    @Flag(help: "Only if nobody has declared the scene; otherwise it stays as it is, which is no error.")
    var ifUndeclared = false

    @Option(
        help: ArgumentHelp(
            "Only if the storyboard has this tag, as get --tag writes it; * for any declared one.", valueName: "tag"))
    var ifMatch: String?

    func validate() throws {
        guard let ifMatch else { return }
        guard !ifUndeclared else { throw ValidationError("give either --if-match or --if-undeclared") }
        guard ifMatch.wholeMatch(of: #/\*|(W/)?"[!#-~]*"(, (W/)?"[!#-~]*")*/#) != nil else {
            throw ValidationError("--if-match must be a tag with its quotation marks, as get --tag writes it, or *")
        }
    }

    func run(_ arbiter: Arbiter) async throws {
        let declared = try await declared(arbiter.scene(scene.name), try file.read())
        Terminal.output.line(
            declared.map { "\(scene.name) is declared, revision \(Int($0["revision"]?.number ?? 0))" }
                ?? "\(scene.name) was declared before")
    }

    private func declared(_ scene: ArbiterScene, _ storyboard: JSONValue) async throws -> JSONValue? {
        guard let ifMatch else { return try await scene.declare(storyboard, ifUndeclared: ifUndeclared) }
        let request = WireRequest("PUT", scene.path("/storyboard"), storyboard, headers: ["If-Match": ifMatch])
        return try await scene.arbiter.ask(request).accepted()
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
