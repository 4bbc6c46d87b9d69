internal import CLinux
internal import Foundation
internal import Glibc
internal import Yams

/// A file that people write for the daemon, in YAML.
package enum SettingsFile {
    /// Levels of lists and entries in a file.
    private static let depth = 8
    /// Values in a file, so that aliases cannot make a short text very large.
    private static let values = 100_000

    /// Why a file cannot be used.
    package struct Malformed: Error, Hashable, Sendable {
        /// The line, counted from 1; `nil` if that is unknown.
        package let line: Int?
        /// What is wrong, without the place.
        package let reason: String

        package init(line: Int?, reason: String) {
            self.line = line
            self.reason = reason
        }

        /// One sentence that a person can act on, with the path of the file.
        package func description(in path: String) -> String {
            "\(path)\(line.map { ":\($0)" } ?? ""): \(reason)"
        }
    }

    /// Reads a file as UTF-8.
    ///
    /// - Throws: `Malformed` if it cannot be read, is longer than `limit` bytes, or is not UTF-8.
    package static func read(_ path: String, upTo limit: Int) throws(Malformed) -> String {
        // Opening and reading anything else, such as a pipe, could wait for ever.
        let descriptor = unsafe arbiter_open_regular_file(path)
        guard descriptor >= 0 else {
            let reason = errno == EINVAL ? "is not a file" : unsafe String(cString: strerror(errno))
            throw Malformed(line: nil, reason: "cannot be read: \(reason)")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let data: Data
        do {
            data = try file.read(upToCount: limit + 1) ?? Data()
        } catch {
            throw Malformed(line: nil, reason: "cannot be read: \(Self.words(for: error))")
        }
        guard data.count <= limit else { throw Malformed(line: nil, reason: "is longer than \(limit) bytes") }
        guard let text = String(data: data, encoding: .utf8) else { throw Malformed(line: nil, reason: "is not UTF-8") }
        return text
    }

    /// Changes a file as a whole, or makes it; a new one can be read by its owner only.
    ///
    /// Others that change a file of the same directory in this way wait until this is done.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - limit: the most bytes that it may have.
    ///   - change: gets the text of the file, which is empty if there is none, and returns the new one.
    /// - Throws: `Malformed` if it cannot be read or written, and what `change` throws; then it is as it was.
    package static func change(
        _ path: String, upTo limit: Int, _ change: (String) throws(Malformed) -> String
    ) throws(Malformed) {
        let directory = path.contains("/") ? String(path[...(path.lastIndex(of: "/") ?? path.startIndex)]) : "."
        let lock = unsafe arbiter_lock_directory(directory)
        guard lock >= 0 else {
            throw Malformed(line: nil, reason: "cannot be written: \(unsafe String(cString: strerror(errno)))")
        }
        defer { close(lock) }
        let exists = FileManager.default.fileExists(atPath: path)
        let text = try change(exists ? read(path, upTo: limit) : "")
        // A link stays a link.
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let new = target + ".new"
        let files = FileManager.default
        let old = try? files.attributesOfItem(atPath: target)
        try? files.removeItem(atPath: new)
        var attributes: [FileAttributeKey: Any] = [.posixPermissions: old?[.posixPermissions] ?? 0o600]
        for key in [FileAttributeKey.ownerAccountID, .groupOwnerAccountID] { attributes[key] = old?[key] }
        guard files.createFile(atPath: new, contents: Data(text.utf8), attributes: attributes),
            unsafe rename(new, target) == 0
        else { throw Malformed(line: nil, reason: "cannot be written: \(unsafe String(cString: strerror(errno)))") }
    }

    /// What the system says, without Foundation's words around it.
    private static func words(for error: any Error) -> String {
        let error = error as NSError
        let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        return cause.domain == NSPOSIXErrorDomain
            ? unsafe String(cString: strerror(Int32(cause.code))) : error.localizedDescription
    }

    /// The entries of a document; an empty document has none.
    ///
    /// - Throws: `Malformed` if it is no YAML, or has no entries of the form `name: value`.
    package static func entries(_ text: String) throws(Malformed) -> [SettingsValue.Entry] {
        let document: Node?
        do {
            document = try Parser(yaml: text, resolver: .basic).singleRoot()
        } catch let error as YamlError {
            throw Malformed(error)
        } catch {
            throw Malformed(line: nil, reason: "not valid YAML")
        }
        guard let document else { return [] }
        var room = values
        let value = try value(document, depth: depth, room: &room)
        if case .nothing = value.content { return [] }
        return try value.entries("the file")
    }

    private static func value(_ node: Node, depth: Int, room: inout Int) throws(Malformed) -> SettingsValue {
        let line = node.mark?.line
        guard depth > 0 else { throw Malformed(line: line, reason: "has more than \(Self.depth) levels") }
        room -= 1
        guard room >= 0 else { throw Malformed(line: line, reason: "has more than \(values) values") }
        switch node {
        case .scalar(let scalar):
            let isNothing = scalar.style == .plain && ["", "~", "null"].contains(scalar.string)
            return SettingsValue(line: line, isNothing ? .nothing : .text(scalar.string))
        case .sequence(let sequence):
            var items: [SettingsValue] = []
            for item in sequence { items.append(try value(item, depth: depth - 1, room: &room)) }
            return SettingsValue(line: line, .list(items))
        case .mapping(let mapping):
            var entries: [SettingsValue.Entry] = []
            for (key, node) in mapping {
                guard let name = key.scalar?.string else {
                    throw Malformed(line: key.mark?.line, reason: "a name must be a plain text")
                }
                entries.append(
                    SettingsValue.Entry(
                        name: name, line: key.mark?.line, value: try value(node, depth: depth - 1, room: &room)))
            }
            return SettingsValue(line: line, .entries(entries))
        case .alias:
            throw Malformed(line: line, reason: "aliases are not read")
        }
    }
}

/// A value in such a file.
package struct SettingsValue: Hashable, Sendable {
    /// The line, counted from 1; `nil` if that is unknown.
    package let line: Int?
    package let content: Content

    package indirect enum Content: Hashable, Sendable {
        case nothing
        /// A scalar as it is written.
        case text(String)
        case list([SettingsValue])
        case entries([Entry])
    }

    /// A value with its name.
    package struct Entry: Hashable, Sendable {
        package let name: String
        package let line: Int?
        package let value: SettingsValue
    }

    init(line: Int?, _ content: Content) {
        self.line = line
        self.content = content
    }

    /// The text of a scalar; `nil` for anything else.
    package var text: String? {
        guard case .text(let text) = content else { return nil }
        return text
    }

    /// The texts of a list of scalars, or of a single one.
    ///
    /// - Throws: `Malformed` if it is anything else.
    package func texts(_ name: String) throws(SettingsFile.Malformed) -> [String] {
        let items: [SettingsValue]
        if case .list(let list) = content { items = list } else { items = [self] }
        var texts: [String] = []
        for item in items {
            guard let text = item.text else { throw item.malformed("\(name) must be a value, or a list of values") }
            texts.append(text)
        }
        return texts
    }

    /// The entries.
    ///
    /// - Throws: `Malformed` if it is anything else.
    package func entries(_ name: String) throws(SettingsFile.Malformed) -> [Entry] {
        guard case .entries(let entries) = content else {
            throw malformed("\(name) must have entries of the form name: value")
        }
        return entries
    }

    package func malformed(_ reason: String) -> SettingsFile.Malformed {
        SettingsFile.Malformed(line: line, reason: reason)
    }
}

extension SettingsFile.Malformed {
    fileprivate init(_ error: YamlError) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            self.init(line: mark.line, reason: "not valid YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            self.init(line: context.mark.line, reason: "\(duplicates.first ?? "a name") is given twice")
        default:
            self.init(line: nil, reason: "not valid YAML")
        }
    }
}

/// The name that is most like another one, for a suggestion; `nil` if none is like it.
package func nearestName(to name: String, among names: [String]) -> String? {
    let candidates = names.map { (name: $0, distance: editDistance(name, $0)) }
    let limit = max(2, name.count / 3)
    return candidates.filter { $0.distance <= limit }.min { $0.distance < $1.distance }?.name
}

/// The number of characters that have to be changed, inserted or removed (the Levenshtein distance).
private func editDistance(_ left: String, _ right: String) -> Int {
    let right = Array(right)
    var row = Array(0...right.count)
    for (index, character) in left.enumerated() {
        var diagonal = row[0]
        row[0] = index + 1
        for column in right.indices {
            let substituted = diagonal + (character == right[column] ? 0 : 1)
            diagonal = row[column + 1]
            row[column + 1] = min(substituted, row[column] + 1, row[column + 1] + 1)
        }
    }
    return row[right.count]
}
