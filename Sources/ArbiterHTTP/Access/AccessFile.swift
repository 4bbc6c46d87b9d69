internal import ArbiterCore

/// The file that says who may do what, in YAML.
package enum AccessFile {
    /// The most bytes that it may have.
    package static let fileBytes = 4 << 20
    /// The most entries that it may have.
    private static let entries = 10_000
    private static let nameBytes = 64
    /// The most names and patterns of scenes that an entry may have.
    private static let scenesPerEntry = 100

    private static let list = "principals"
    private static let fields = ["name", "token", "user", "group", "certificate", "roles", "scenes", "maxPriority"]

    /// Reads the entries.
    ///
    /// - Throws: `SettingsFile.Malformed` if anything in it is wrong.
    static func table(_ text: String) throws(SettingsFile.Malformed) -> AccessTable {
        var entries: [AccessEntry] = []
        var names: Set<String> = []
        var proofs: [AccessEntry.Proof: String] = [:]
        for entry in try SettingsFile.entries(text) {
            guard entry.name == list else { throw unknown(entry, among: [list]) }
            if case .nothing = entry.value.content { continue }
            guard case .list(let items) = entry.value.content else {
                throw entry.value.malformed("\(list) must be a list of entries")
            }
            guard items.count <= Self.entries else {
                throw entry.value.malformed("there are more than \(Self.entries) entries")
            }
            for item in items {
                let read = try self.entry(item)
                guard names.insert(read.name).inserted else {
                    throw item.malformed("there are several entries with the name \(read.name)")
                }
                for proof in read.proof.each {
                    if let other = proofs.updateValue(read.name, forKey: proof) {
                        throw item.malformed("\(read.name) has the same \(proof.kind) as \(other)")
                    }
                }
                entries.append(read)
            }
        }
        return AccessTable(entries)
    }

    private static func entry(_ item: SettingsValue) throws(SettingsFile.Malformed) -> AccessEntry {
        var name: String?
        var proofs: [AccessEntry.Proof] = []
        var roles: Set<Role>?
        var scenes: SceneSelection?
        var highestPriority = Priority.standard
        for field in try item.entries("an entry of \(list)") {
            switch field.name {
            case "name": name = try Self.name(field.value)
            case "token": proofs.append(.token(try digests(field.value)))
            case "user":
                proofs.append(.user(try number(field.value, "user", SystemUser.number)))
            case "group":
                proofs.append(.group(try number(field.value, "group", SystemGroup.number)))
            case "certificate": proofs.append(.certificate(try commonName(field.value)))
            case "roles": roles = try Self.roles(field.value)
            case "scenes": scenes = try selection(field.value)
            case "maxPriority": highestPriority = try priority(field.value)
            default: throw unknown(field, among: fields)
            }
        }
        guard let name else { throw item.malformed("the entry has no name") }
        guard proofs.count == 1, let proof = proofs.first else {
            throw item.malformed("\(name) must have either token, user, group or certificate")
        }
        guard let roles else { throw item.malformed("\(name) has no roles") }
        guard let scenes else { throw item.malformed("\(name) has no scenes; \"*\" means all of them") }
        return AccessEntry(
            name: name, proof: proof, roles: roles, scenes: scenes, highestPriority: highestPriority)
    }

    private static func unknown(_ entry: SettingsValue.Entry, among names: [String]) -> SettingsFile.Malformed {
        let suggestion = nearestName(to: entry.name, among: names).map { ": did you mean \($0)?" } ?? ""
        return SettingsFile.Malformed(line: entry.line, reason: "there is no entry \(entry.name)\(suggestion)")
    }

    /// Whether a text can be the name of an entry.
    package static func isName(_ text: String) -> Bool {
        text.utf8.count <= nameBytes && SceneName.isValid(text)
    }

    private static func name(_ value: SettingsValue) throws(SettingsFile.Malformed) -> String {
        guard let text = value.text, isName(text) else {
            throw value.malformed("name must be 1 to \(nameBytes) of A-Z a-z 0-9 . _ and -")
        }
        return text
    }

    private static func digests(_ value: SettingsValue) throws(SettingsFile.Malformed) -> [SecretDigest] {
        let digests = try value.texts("token").map { SecretDigest($0) }
        let known = digests.compactMap(\.self)
        // The text is not repeated: it may be a secret.
        guard !known.isEmpty, known.count == digests.count else {
            throw value.malformed("token must be sha256: and the 64 hexadecimal digits of the secret's SHA-256")
        }
        return known
    }

    private static func number(
        _ value: SettingsValue, _ kind: String, _ number: (String) -> UInt32?
    ) throws(SettingsFile.Malformed) -> UInt32 {
        guard let text = value.text, let found = number(text) else {
            throw value.malformed("there is no \(kind) \(value.text ?? "of this name")")
        }
        return found
    }

    private static func commonName(_ value: SettingsValue) throws(SettingsFile.Malformed) -> String {
        // With the prefix it has to be a principal's name.
        guard let text = value.text, !text.isEmpty, PrincipalName("certificate:" + text) != nil else {
            throw value.malformed("certificate must be the common name of the certificate's subject")
        }
        return text
    }

    private static func roles(_ value: SettingsValue) throws(SettingsFile.Malformed) -> Set<Role> {
        var roles: Set<Role> = []
        for text in try value.texts("roles") {
            guard let role = Role(rawValue: text) else {
                let all = Role.allCases.map(\.rawValue).joined(separator: ", ")
                throw value.malformed("there is no role \(text); the roles are \(all)")
            }
            roles.insert(role)
        }
        guard !roles.isEmpty else { throw value.malformed("roles must name at least one role") }
        return roles
    }

    private static func priority(_ value: SettingsValue) throws(SettingsFile.Malformed) -> Priority {
        guard let priority = value.text.flatMap({ Int($0) }).flatMap({ Priority($0) }) else {
            let allowed = Limits.priorities
            throw value.malformed("maxPriority must be an integer from \(allowed.lowerBound) to \(allowed.upperBound)")
        }
        return priority
    }

    private static func selection(_ value: SettingsValue) throws(SettingsFile.Malformed) -> SceneSelection {
        var patterns: [ScenePattern] = []
        for text in try value.texts("scenes") {
            guard let pattern = ScenePattern(text) else {
                throw value.malformed("scenes must be names, or patterns of \(ScenePattern.rule)")
            }
            patterns.append(pattern)
        }
        guard 1...scenesPerEntry ~= patterns.count else {
            throw value.malformed("scenes must be 1 to \(scenesPerEntry) names or patterns")
        }
        return patterns.contains(where: \.matchesAll) ? .all : .matching(patterns)
    }
}
