internal import ArbiterCore

/// The text of an access file, as the command line writes and lists it.
package enum AccessFileText {
    /// An entry, as an item of the list of principals.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - proof: the field that says what the client is known by, and its value.
    ///   - roles: its roles.
    ///   - scenes: the names and patterns of its scenes.
    ///   - highestPriority: the highest priority that its transitions may have; without it, the standard one.
    /// - Returns: its lines.
    package static func entry(
        name: String, proof: (field: String, value: String), roles: [String], scenes: [String],
        highestPriority: Int? = nil
    ) -> String {
        let scenes = scenes.map(quoted).joined(separator: ", ")
        let lines = """
              - name: \(quoted(name))
                \(proof.field): \(quoted(proof.value))
                roles: [\(roles.joined(separator: ", "))]
                scenes: [\(scenes)]

            """
        return highestPriority.map { lines + "    maxPriority: \($0)\n" } ?? lines
    }

    /// A text in double quotes, as YAML reads it.
    private static func quoted(_ text: String) -> String {
        let escaped = text.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] }
        return "\"\(String(escaped))\""
    }

    /// The text of a file with one more entry.
    ///
    /// - Throws: `SettingsFile.Malformed` if the file or the entry is wrong, or if the file is not written in such a way
    ///   that an entry can be appended.
    package static func appending(_ entry: String, to text: String) throws(SettingsFile.Malformed) -> String {
        let before = try AccessFile.table(text).entries
        let added: [AccessEntry]
        do throws(SettingsFile.Malformed) {
            added = try AccessFile.table("principals:\n" + entry).entries
        } catch {
            // Its line is none of the file's.
            throw SettingsFile.Malformed(line: nil, reason: error.reason)
        }
        for entry in added {
            for other in before where !Set(other.proof.each).isDisjoint(with: entry.proof.each) {
                throw SettingsFile.Malformed(
                    line: nil, reason: "\(entry.name) has the same \(entry.proof.kind) as \(other.name)")
            }
        }
        var start = text
        if !start.isEmpty, !start.hasSuffix("\n") { start += "\n" }
        if before.isEmpty, !text.contains("principals:") { start += "principals:\n" }
        let after = start + entry
        if let entries = try? AccessFile.table(after).entries, entries.count == before.count + 1 { return after }
        // Tells a name that is there already from a list that cannot be appended to.
        if let name = added.first?.name, before.contains(where: { $0.name == name }) {
            throw SettingsFile.Malformed(line: nil, reason: "there is an entry with the name \(name) already")
        }
        throw SettingsFile.Malformed(
            line: nil,
            reason:
                "no entry can be appended to the list as it is written: give each entry lines of its own, after \"- \"")
    }

    /// A line for each entry: its name, what the client is known by, its roles, its scenes, and its priority if it may have one.
    ///
    /// - Throws: `SettingsFile.Malformed` if the file is wrong.
    package static func lines(of text: String) throws(SettingsFile.Malformed) -> [String] {
        try AccessFile.table(text).entries.map { entry in
            let roles = Role.allCases.filter(entry.roles.contains).map(\.rawValue).joined(separator: ",")
            let line = "\(entry.name)  \(entry.proof.words)  \(roles)  \(entry.scenes.words)"
            let highest = entry.highestPriority
            return highest == .standard ? line : line + "  maxPriority \(highest.value)"
        }
    }
}

extension AccessEntry.Proof {
    fileprivate var words: String {
        switch self {
        case .token: "token"
        case .user(let number): "user \(number)"
        case .group(let number): "group \(number)"
        case .certificate(let name): "certificate \(name)"
        }
    }
}

extension SceneSelection {
    fileprivate var words: String {
        switch self {
        case .all: "*"
        case .matching(let patterns): patterns.map(\.description).joined(separator: ",")
        }
    }
}
