extension Storyboard: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(hierarchy)
        writer.write(segues)
        writer.write(transitionTypes)
        writer.write(defaults.duration)
        writer.writeWord(defaults.curve)
        writer.write(defaults.lease)
        // A storyboard that earlier rules know ends with the word.
        guard defaults.neededRules == .second else { return writer.writeWord(defaults.scope) }
        let more = defaults.type != nil ? 3 : defaults.consent != nil ? 2 : 1
        writer.write(defaults.scope.rawValue + String(repeating: Self.more, count: more))
        writer.write(defaults.priority)
        switch more {
        case 3:
            writer.write(defaults.consent)
            writer.write(defaults.type)
        case 2: if let consent = defaults.consent { writer.write(consent) }
        default: break
        }
    }

    /// What follows the last word: once if a priority comes behind it, twice if a consent does too, and three times if an optional
    /// consent and a type do.
    private static let more = "+"

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        let hierarchy: Hierarchy = try reader.read()
        let segues: [Segue] = try reader.readArray()
        let types: [TransitionType] = try reader.readArray()
        var defaults = Defaults(
            duration: try reader.read(), curve: try reader.readWord(), lease: try reader.read())
        let word = try reader.readText()
        let name = word.prefix { String($0) != Self.more }
        let more = word.count - name.count
        guard let scope = DefaultScope(rawValue: String(name)), more <= 3 else {
            throw reader.malformed("a default scope")
        }
        defaults.scope = scope
        if more > 0 { defaults.priority = try reader.read() }
        if more == 2 { defaults.consent = try reader.read() as Consent }
        if more == 3 {
            defaults.consent = try reader.readOptional()
            defaults.type = try reader.readOptional()
        }
        do throws(StoryboardFault) {
            try self.init(hierarchy: hierarchy, segues: segues, transitionTypes: types, defaults: defaults)
        } catch {
            throw reader.malformed("a storyboard: \(error)")
        }
    }
}

extension Segue: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(identifier)
        writer.write(source)
        writer.writeWord(kind)
        writer.write(destination)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(
            identifier: try reader.read(), source: try reader.read(), kind: try reader.readWord(),
            destination: try reader.read())
    }
}

extension TransitionType: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(name)
        writer.write(duration)
        writer.writeWord(curve)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(name: try reader.read(), duration: try reader.readOptional(), curve: try reader.readOptionalWord())
    }
}

extension AnimationRequest: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(type)
        writer.write(duration)
        writer.writeWord(curve)
        writer.write(completionSpeed)
        writer.write(bytes: userInfo)
        writer.write(isReversed)
        writer.writeWord(direction)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(
            type: try reader.readOptional(), duration: try reader.readOptional(), curve: try reader.readOptionalWord(),
            completionSpeed: try reader.readOptional(), userInfo: try reader.readOptionalBytes(),
            isReversed: try reader.readOptional(), direction: try reader.readOptionalWord())
    }
}

extension Animation: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(type)
        writer.write(duration)
        writer.writeWord(curve)
        writer.write(completionSpeed)
        writer.write(bytes: userInfo)
        writer.write(isReversed)
        writer.writeWord(direction)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(
            type: try reader.readOptional(), duration: try reader.read(), curve: try reader.readWord(),
            completionSpeed: try reader.read(), userInfo: try reader.readOptionalBytes(),
            isReversed: try reader.readBool(), direction: try reader.readWord())
    }
}

extension Scope: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        switch self {
        case .scene: writer.write(UInt8(0))
        case .operation: writer.write(UInt8(1))
        case .controllers(let controllers):
            writer.write(UInt8(2))
            writer.write(controllers)
        case .anyOf(let names):
            writer.write(UInt8(3))
            writer.write(names)
        }
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        switch try reader.read(UInt8.self) {
        case 0: self = .scene
        case 1: self = .operation
        case 2: self = .controllers(try reader.readArray())
        case 3: self = .anyOf(try reader.readArray())
        default: throw reader.malformed("a scope")
        }
    }
}

extension Storyboard {
    /// The oldest rules that know all of it.
    var neededRules: Rules {
        segues.lazy.map(\.destination.neededRules).reduce(max(defaults.neededRules, hierarchy.neededRules), max)
    }
}

extension Storyboard.Defaults {
    fileprivate var neededRules: Rules { priority == .standard && consent == nil && type == nil ? .first : .second }
}
