internal import ArbiterHTTP
internal import ArgumentParser
internal import Foundation

/// `arbiterd config`: checks and shows the settings.
struct ConfigCommand: ConfigSubcommand {
    static let name = "config"

    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Checks and shows the settings that the daemon would start with.",
        discussion: """
            A file of settings (--config) is YAML: the names of the options without dashes before them, each with its \
            value, or with a list of values if the option can be repeated.

                listen: [127.0.0.1:8080, unix:/run/arbiterd/arbiterd.sock]
                durability: power
                max-parked: 20000

            The command line replaces what the environment gives, and the environment what the file gives.
            """,
        subcommands: [Check.self, Show.self]
    )

    struct Check: ConfigSubcommand {
        static let configuration = CommandConfiguration(
            abstract: "Checks the settings and every file that they name, without starting anything.")

        @OptionGroup var options: Options

        func run() throws {
            try options.check()
            print("the settings are sound")
        }
    }

    struct Show: ConfigSubcommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows every setting, its value, and where the value is from.")

        @OptionGroup var options: Options

        func run() throws {
            let given = try GivenSettings(Arguments.ofThisProcess)
            let width = Setting.all.map(\.name.count).max() ?? 0
            for setting in Setting.all {
                let values = try setting.values(options)
                let source = given.sources[setting.name] ?? .default
                for value in values.isEmpty ? ["-"] : values {
                    let name = setting.name.padding(toLength: width, withPad: " ", startingAt: 0)
                    print("\(name)  \(value)  (\(source))")
                }
            }
        }
    }
}

/// `arbiterd config` and its subcommands.
protocol ConfigSubcommand: ParsableCommand {}
