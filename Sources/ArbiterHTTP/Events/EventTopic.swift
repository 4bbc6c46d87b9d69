package import ArbiterCore

/// What an event stream follows.
package enum EventTopic: Hashable, Sendable {
    case scene(SceneName)
    /// All scenes of a shard.
    case shard(Shard)

    /// All scenes of a single daemon.
    package static let allScenes = EventTopic.shard(.only)

    package func _rawHashValue(seed: Int) -> Int {
        switch self {
        case .scene(let name): name._rawHashValue(seed: seed)
        case .shard(let shard): seed &+ shard.index
        }
    }

    /// The number of an event in this topic; `nil` for a momentary event.
    func number(of event: SceneEvent) -> EventNumber? {
        switch self {
        case .scene: event.number
        case .shard: event.overall
        }
    }

    /// The id of an event with this number.
    func text(of number: EventNumber) -> String {
        switch self {
        case .scene: String(number.rawValue)
        case .shard(let shard): EventPosition([shard.index: number]).text(ofShards: shard.count)
        }
    }

    /// The first lines for a new reader: the id behind which it begins.
    func linesOfBeginning(at number: EventNumber) -> [UInt8] {
        Array("id: \(text(of: number))\n\n".utf8)
    }

    /// Reads an event id that a client sends.
    ///
    /// - Throws: `invalid-field` if it cannot be an id from a stream of this topic.
    func number(_ text: String, field: String) throws(Problem) -> EventNumber {
        switch self {
        case .scene:
            guard let number = EventNumber(digits: text) else {
                throw Problem(
                    .invalidField, "The number of an event must be a whole number from 0.", field: field)
            }
            return number
        case .shard(let shard):
            let position = try EventPosition(text, field: field, shards: shard.count)
            return position.numbers[shard.index] ?? EventNumber(rawValue: 0)
        }
    }

    /// Whether it is about a shard, or about a scene in it.
    func belongs(to shard: Shard) -> Bool {
        switch self {
        case .scene(let name): shard.contains(Slot(name))
        case .shard(let other): other == shard
        }
    }
}

/// A place in the stream of all scenes: the number of the last event of each shard.
///
/// Written as a cursor, for clients, who do not look into it: `c41` where there is one shard, `c3.41-7.12` where there are
/// more.
struct EventPosition: Hashable, Sendable {
    /// The first character of a cursor, which distinguishes it from an event number of a scene.
    private static let mark = "c"

    /// The numbers of the last events, by the indexes of the shards.
    private(set) var numbers: [Int: EventNumber]

    init(_ numbers: [Int: EventNumber] = [:]) { self.numbers = numbers }

    /// Reads a cursor.
    ///
    /// - Parameters:
    ///   - text: the cursor.
    ///   - field: where the client wrote it.
    ///   - shards: how many shards there are.
    /// - Throws: `invalid-field` if it cannot be one from a stream of so many shards.
    init(_ text: String, field: String, shards: Int) throws(Problem) {
        guard let position = Self(text, shards: shards) else {
            throw Problem(
                .invalidField, "The cursor must be the id of an event that the stream has sent.", field: field)
        }
        self = position
    }

    /// Reads a cursor; `nil` if it is none of a stream of so many shards.
    init?(_ text: some StringProtocol, shards: Int) {
        guard text.hasPrefix(Self.mark) else { return nil }
        let rest = text.dropFirst(Self.mark.count)
        numbers = [:]
        guard shards > 1 else {
            guard let number = EventNumber(digits: rest) else { return nil }
            numbers[0] = number
            return
        }
        for pair in rest.split(separator: "-", omittingEmptySubsequences: false) {
            let parts = pair.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, let shard = EventNumber(digits: parts[0]), shard.rawValue < shards,
                let number = EventNumber(digits: parts[1]),
                numbers.updateValue(number, forKey: Int(shard.rawValue)) == nil
            else { return nil }
        }
    }

    /// The cursor.
    func text(ofShards count: Int) -> String {
        guard count > 1 else { return Self.mark + String(numbers[0]?.rawValue ?? 0) }
        let pairs = numbers.sorted { $0.key < $1.key }.map { "\($0.key).\($0.value.rawValue)" }
        return Self.mark + pairs.joined(separator: "-")
    }

    /// Takes over the places of another one.
    mutating func advance(to other: EventPosition) { numbers.merge(other.numbers) { $1 } }
}

extension EventNumber {
    /// Reads a number that is written in digits only.
    fileprivate init?(digits: some StringProtocol) {
        guard digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let number = UInt64(digits)
        else { return nil }
        self.init(rawValue: number)
    }
}
