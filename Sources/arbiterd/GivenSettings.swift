internal import ArbiterHTTP
internal import ArgumentParser
internal import Foundation
internal import Glibc

/// The settings that are given, and where: the command line counts more than the environment, and that more than the
/// file.
struct GivenSettings: Sendable {
    /// Where a setting comes from.
    enum Source: Hashable, Sendable, CustomStringConvertible {
        case `default`
        case file(String)
        case environment(variable: String)
        case commandLine

        var description: String {
            switch self {
            case .default: "default"
            case .file(let path): path
            case .environment(let variable): variable
            case .commandLine: "command line"
            }
        }
    }

    /// The sources of the settings that are given, by name.
    let sources: [String: Source]
    /// What the environment and the file give, and the command line does not, as arguments.
    let arguments: [String]

    /// - Parameters:
    ///   - given: the arguments of the command line.
    ///   - environment: the variables of the environment.
    ///   - settings: the settings that count; the others are checked, and ignored.
    /// - Throws: `Failure` if a variable or an entry of the file is no setting, or has a wrong value.
    init(
        _ given: [String], environment: [String: String] = ProcessInfo.processInfo.environment,
        only settings: [Setting] = Setting.all
    ) throws {
        let inEnvironment = try Self.fromEnvironment(environment)
        try Self.check(inEnvironment.flatMap { $0.setting.arguments($0.values) }, "in the environment: ")
        let path = try Self.path(given) ?? environment[Setting.file.variable].flatMap { $0.isEmpty ? nil : $0 }
        let inFile = try path.map(Self.fromFile) ?? []
        try Self.check(inFile.flatMap { $0.setting.arguments($0.values) }, "\(path ?? ""): ")

        var sources: [String: Source] = [:]
        var arguments: [String] = []
        for setting in settings {
            if setting.isGiven(in: given) {
                sources[setting.name] = .commandLine
            } else if let found = inEnvironment.first(where: { $0.setting.name == setting.name }) {
                sources[setting.name] = .environment(variable: setting.variable)
                arguments += setting.arguments(found.values)
            } else if let found = inFile.first(where: { $0.setting.name == setting.name }) {
                sources[setting.name] = .file(path ?? "")
                arguments += setting.arguments(found.values)
            }
        }
        self.sources = sources
        self.arguments = arguments
    }

    private typealias Given = (setting: Setting, values: [String])

    /// The file that the command line names.
    private static func path(_ given: [String]) throws -> String? {
        let option = "--\(Setting.file.name)"
        guard let index = given.lastIndex(where: { $0 == option || $0.hasPrefix(option + "=") }) else { return nil }
        if given[index] != option { return String(given[index].dropFirst(option.count + 1)) }
        // Without a value, the parser refuses the option.
        return index + 1 < given.count ? given[index + 1] : nil
    }

    /// Parses what one source gives, so that an error names the source.
    private static func check(_ arguments: [String], _ source: String) throws {
        do {
            _ = try Options.parse(arguments)
        } catch {
            throw Failure(EX_USAGE, source + Options.message(for: error) + " (see --help)")
        }
    }
}

// MARK: - The environment

extension GivenSettings {
    private static func fromEnvironment(_ environment: [String: String]) throws -> [Given] {
        let variables = (Setting.all + [Setting.file]).map(\.variable)
        let unknown = environment.keys.sorted().first { name in
            name.hasPrefix(Setting.variablePrefix) && !variables.contains(name) && !isOfService(name)
        }
        if let unknown {
            throw Failure(
                EX_USAGE,
                "there is no option for the environment's \(unknown)\(suggestion(for: unknown, variables)) (see --help)"
            )
        }
        return try Setting.all.compactMap { setting in
            guard let value = environment[setting.variable] else { return nil }
            switch setting.kind {
            case .value: return (setting, [value])
            case .list: return (setting, value.split { $0 == "," || $0.isWhitespace }.map(String.init))
            case .flag:
                guard let isSet = Setting.isYes(value) else {
                    throw Failure(EX_USAGE, "\(setting.variable) must be true or false")
                }
                return (setting, ["\(isSet)"])
            }
        }
    }

    /// Whether Kubernetes or Docker sets a variable for a service whose name begins with "arbiterd".
    private static func isOfService(_ variable: String) -> Bool {
        let parts = variable.split(separator: "_")
        return parts.contains("PORT") || parts.suffix(2) == ["SERVICE", "HOST"]
    }

    private static func suggestion(for name: String, _ names: [String]) -> String {
        nearestName(to: name, among: names).map { ": did you mean \($0)?" } ?? ""
    }
}

// MARK: - The file

extension GivenSettings {
    /// The most bytes that a file of settings may have.
    private static let fileBytes = 1 << 20

    private static func fromFile(_ path: String) throws -> [Given] {
        do throws(SettingsFile.Malformed) {
            return try parse(SettingsFile.read(path, upTo: fileBytes))
        } catch {
            throw Failure(EX_CONFIG, error.description(in: path))
        }
    }

    private static func parse(_ text: String) throws(SettingsFile.Malformed) -> [Given] {
        var given: [Given] = []
        for entry in try SettingsFile.entries(text) {
            guard let setting = Setting.all.first(where: { $0.name == entry.name }) else {
                throw SettingsFile.Malformed(
                    line: entry.line,
                    reason: "there is no setting \(entry.name)\(suggestion(for: entry.name, Setting.all.map(\.name)))")
            }
            given.append((setting, try values(of: setting, entry.value)))
        }
        return given
    }

    private static func values(
        of setting: Setting, _ value: SettingsValue
    ) throws(SettingsFile.Malformed) -> [String] {
        switch setting.kind {
        case .value:
            guard let text = value.text else { throw value.malformed("\(setting.name) must be a single value") }
            return [text]
        case .list:
            return try value.texts(setting.name)
        case .flag:
            guard let isSet = value.text.flatMap(Setting.isYes) else {
                throw value.malformed("\(setting.name) must be true or false")
            }
            return ["\(isSet)"]
        }
    }
}
