/// Which transitions of a scene have the same purpose, and which of two stays; a string stands for the key.
public struct Coalescing: Hashable, Sendable, ExpressibleByStringLiteral {
    /// What transitions with the same purpose have in common.
    public var key: String
    /// Which of two stays.
    public var keep: Keep
    /// What a new ticket is coalesced with.
    public var among: Among

    /// Which of two stays.
    public enum Keep: String, Hashable, Sendable {
        /// The newer one, in the place of the older one.
        case latest
        /// The older one.
        case first
    }

    /// What a new ticket is coalesced with.
    public enum Among: String, Hashable, Sendable {
        /// What waits in the queue.
        case queued
        /// What is granted too: the one that stays may run, and the one that is replaced may prepare.
        case unfinished
    }

    /// Coalescing by a key.
    public init(_ key: String, keep: Keep = .latest, among: Among = .queued) {
        self.key = key
        self.keep = keep
        self.among = among
    }

    /// Of the tickets that wait with this key, only the newest stays.
    public init(stringLiteral key: String) { self.init(key) }

    /// Coalescing as the wire has it.
    var document: JSONValue {
        var members: [String: JSONValue] = ["key": .string(key), "keep": .string(keep.rawValue)]
        if among != .queued { members["among"] = .string(among.rawValue) }
        return .object(members)
    }
}
