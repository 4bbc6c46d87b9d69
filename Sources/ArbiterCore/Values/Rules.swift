/// A version of the rules by which records change the state: what a request means, who is granted, what is remembered.
///
/// Records and snapshots name the rules that they were made under. A replay needs those, since other rules may give
/// another state; a version that knows no such rules refuses the journal. The first rules are those of journals that name
/// none.
package enum Rules: UInt8, Hashable, Comparable, Sendable, CaseIterable {
    case first = 0
    /// Closer to what interfaces do; the properties below say in what.
    case second = 1
    /// Idempotency keys belong to scenes too.
    case third = 2
    /// A gesture ends as it was decided, also when its owner dies; and a running transition can be given its operation.
    case fourth = 3

    /// What this version adds to a journal is made under these, unless a cluster holds it to earlier ones.
    package static let newest = Rules.fourth

    /// The rules under which this version can add to a journal; it reads older ones too.
    package static let supported = Rules.second...newest

    package static func < (left: Rules, right: Rules) -> Bool { left.rawValue < right.rawValue }
}

extension Rules {
    /// The layout of records that were made under these rules.
    package var layout: BinaryLayout { self >= .second ? .second : .first }
}

// MARK: - Differences

extension Rules {
    /// Whether an operation may insert controllers with the ids of those that it removes.
    var freesRemovedIDs: Bool { self >= .second }
    /// Whether a navigation may be the detail of a collapsed split.
    var stacksNavigationDetails: Bool { self >= .second }
    /// Whether "presenting" and "presented" look at the whole layer, as a dismissal does.
    var expectsOfLayers: Bool { self >= .second }
    /// Whether the views of tabs that appear are told before those that disappear.
    var tellsComingTabsFirst: Bool { self >= .second }
    /// Whether a ticket is coalesced with all older ones of its key, and not only with the newest.
    var coalescesAll: Bool { self >= .second }
    /// Whether a remembered end survives the end of its session.
    var keepsRememberedEnds: Bool { self >= .second }
    /// Whether a transition that names a controller waits for the earlier ones that bring it in.
    var waitsForArrivals: Bool { self >= .second }
    /// Whether followers hear that a granted transition has come to be waited for.
    var tellsContention: Bool { self >= .second }
    /// Whether followers hear that a scene is deleted.
    var tellsDeletions: Bool { self >= .second }
    /// Whether an operation that changes nothing visible in its container has no animation.
    var animatesOnlyMoves: Bool { self >= .second }
    /// Whether the same idempotency key in two scenes is two keys.
    var dividesKeysByScene: Bool { self >= .third }
    /// Whether a change of the rules has a record of its own, which can also say what is forgotten.
    package var hasAdoptions: Bool { self >= .third }
    /// Whether a gesture ends as it was decided when its transition expires, and an undecided one is cancelled; and whether
    /// nothing is carried out that has not run, or that expires as unclaimed.
    var expiresAsDecided: Bool { self >= .fourth }
    /// Whether a running transition that has no operation can be given one.
    var letsPerform: Bool { self >= .fourth }
}

extension Rules: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(rawValue) }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        let number = try reader.read(UInt8.self)
        guard let rules = Rules(rawValue: number) else { throw reader.unknownVersion("rules \(number)") }
        self = rules
    }
}
