extension StoryboardPatch: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(segues)
        writer.write(transitionTypes)
        writer.write(defaults.duration)
        writer.writeWord(defaults.curve)
        writer.write(defaults.lease)
        // A patch that earlier rules know ends with the scope.
        writer.write(
            (defaults.scope == nil ? 0 : Kept.scope) | (defaults.priority == nil ? 0 : Kept.priority)
                | (defaults.interruptibility == nil ? 0 : Kept.interruptibility)
                | (defaults.type == nil ? 0 : Kept.type))
        if let scope = defaults.scope { writer.writeWord(scope) }
        if defaults.priority != nil { writer.write(defaults.priority) }
        if let interruptibility = defaults.interruptibility { writer.write(interruptibility) }
        if let type = defaults.type { writer.write(type) }
    }

    /// Which defaults are kept behind the lease, as bits of a byte.
    private enum Kept {
        static let scope: UInt8 = 1
        /// An optional priority.
        static let priority: UInt8 = 2
        static let interruptibility: UInt8 = 4
        /// An optional type.
        static let type: UInt8 = 8
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(
            segues: try reader.readArray(), transitionTypes: try reader.readArray(),
            defaults: DefaultsChange(
                duration: try reader.readOptional(), curve: try reader.readOptionalWord(),
                lease: try reader.readOptional()))
        let kept: UInt8 = try reader.read()
        guard kept < Kept.type << 1 else { throw reader.malformed("which defaults change") }
        if kept & Kept.scope != 0 { defaults.scope = try reader.readWord() }
        if kept & Kept.priority != 0 { defaults.priority = try reader.readOptional() }
        if kept & Kept.interruptibility != 0 { defaults.interruptibility = try reader.read() as Interruptibility }
        if kept & Kept.type != 0 { defaults.type = .some(try reader.readOptional()) }
    }
}

/// What the entries of a patch begin with.
private enum ChangeCode {
    static let set: UInt8 = 0
    static let remove: UInt8 = 1
}

extension StoryboardPatch.SegueChange: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        switch self {
        case .set(let segue):
            writer.write(ChangeCode.set)
            writer.write(segue)
        case .remove(let identifier, let source):
            writer.write(ChangeCode.remove)
            writer.write(identifier)
            writer.write(source)
        }
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        switch try reader.read(UInt8.self) {
        case ChangeCode.set: self = .set(try reader.read())
        case ChangeCode.remove: self = .remove(try reader.read(), source: try reader.read())
        default: throw reader.malformed("a change of a segue")
        }
    }
}

extension StoryboardPatch.TransitionTypeChange: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        switch self {
        case .set(let type):
            writer.write(ChangeCode.set)
            writer.write(type)
        case .remove(let name):
            writer.write(ChangeCode.remove)
            writer.write(name)
        }
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        switch try reader.read(UInt8.self) {
        case ChangeCode.set: self = .set(try reader.read())
        case ChangeCode.remove: self = .remove(try reader.read())
        default: throw reader.malformed("a change of a transition type")
        }
    }
}

extension StoryboardPatch {
    /// The oldest rules that know all of it.
    var neededRules: Rules {
        guard defaults.priority == nil, defaults.interruptibility == nil, defaults.type == nil else { return .second }
        return segues.lazy.map(\.neededRules).max() ?? .first
    }
}

extension StoryboardPatch.SegueChange {
    fileprivate var neededRules: Rules {
        switch self {
        case .set(let segue): segue.destination.neededRules
        case .remove: .first
        }
    }
}
