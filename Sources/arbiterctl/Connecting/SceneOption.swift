internal import ArgumentParser

/// The scene that a command is about.
struct SceneOption: ParsableArguments {
    @Option(name: .customLong("scene"), help: ArgumentHelp("The scene.", valueName: "scene"))
    var name = "main"
}
