import ArbiterTestKit
import Synchronization
import Testing

@testable import ArbiterCore

/// Bytes come back as what they were, or not at all.
struct EncodingTests {
    @Test(arguments: Seeds.first(5, atNight: 20))
    func `a snapshot gives the same state again`(seed: UInt64) throws {
        let machine = Self.machine(seed: seed)
        let bytes = machine.snapshot()
        var restored = try ArbiterStateMachine(snapshot: bytes)

        #expect(restored.snapshot() == bytes, "seed \(seed)")
        #expect(restored.durable.transitions == machine.durable.transitions, "seed \(seed)")
        #expect(restored.durable.ended == machine.durable.ended, "seed \(seed)")
        #expect(restored.durable.keys == machine.durable.keys, "seed \(seed)")
        #expect(restored.scenes() == machine.scenes(), "seed \(seed)")
        restored.recover(at: Self.moment(1_000_000).instant)
        #expect(restored.brokenInvariant() == nil, "seed \(seed)")
    }

    @Test(arguments: [1, 7, 1000])
    func `a snapshot is read in pieces as it is read whole, and cut off it is refused`(size: Int) throws {
        let bytes = Self.machine(seed: 1).snapshot()
        func reader(of bytes: [UInt8]) -> BinaryReader { BinaryReader { Array(bytes.dropFirst($0).prefix(size)) } }
        #expect(try ArbiterStateMachine(snapshot: reader(of: bytes)).snapshot() == bytes)
        let error = #expect(throws: BinaryDecodingError.self) {
            try ArbiterStateMachine(snapshot: reader(of: Array(bytes.dropLast())))
        }
        let whole = #expect(throws: BinaryDecodingError.self) {
            try ArbiterStateMachine(snapshot: Array(bytes.dropLast()))
        }
        #expect(error == whole)
        #expect(throws: BinaryDecodingError.self) { try ArbiterStateMachine(snapshot: reader(of: bytes + [0])) }
    }

    @Test func `a snapshot is written in pieces as it is written whole, until one is not taken`() {
        var machine = ArbiterStateMachine()
        for number in UInt64(1)...800 {
            let animation = AnimationRequest(
                userInfo: Array(repeating: UInt8(number % 100), count: Limits.userInfoBytes))
            let request = TransitionRequest(scene: SceneName(unchecked: "scene-\(number)"), animation: animation)
            let record = Record.start(request, id: TransitionID(rawValue: number), token: Token(high: 0, low: number))
            #expect(machine.apply(record, at: Self.moment(1)).records == [record])
        }
        let bytes = machine.snapshot()
        let pieces = Mutex<[Int]>([])
        let count = machine.snapshot { piece, offset in
            pieces.withLock { $0.append(piece.count) }
            return bytes[offset..<offset + piece.count].elementsEqual(piece)
        }
        #expect(count == bytes.count)
        #expect(pieces.withLock { $0.count } > 2)
        #expect(pieces.withLock { $0.max() ?? 0 } < 2 << 20)
        #expect(machine.snapshot { _, offset in offset == 0 } == nil)
        #expect(machine.matches(bytes))
        #expect(!machine.matches(Array(bytes.dropLast())))
        #expect(!machine.matches(bytes + [0]))
    }

    @Test(arguments: Seeds.first(3, atNight: 20))
    func `a restored state goes on like the original`(seed: UInt64) throws {
        var original = Self.machine(seed: seed)
        var restored = try ArbiterStateMachine(snapshot: original.snapshot(), limits: Self.limits)
        let now = Self.moment(1_000_000)
        original.recover(at: now.instant)
        restored.recover(at: now.instant)
        var random = SplitMix64(seed: seed &+ 1)
        for number in 1...200 {
            let moment = Self.moment(1_000_000 + number)
            guard let record = Self.record(of: original, at: moment, using: &random) else { continue }
            let (one, other) = (original.apply(record, at: moment), restored.apply(record, at: moment))
            #expect(one.records == other.records)
            #expect(one.effects == other.effects)
        }
        #expect(restored.snapshot() == original.snapshot(), "seed \(seed)")
    }

    @Test func `a snapshot names its form and its rules, and a grant the rules that it was planned under`() throws {
        var machine = ArbiterStateMachine(rules: .first)
        func start(_ number: UInt64, in scene: String, under rules: Rules) {
            let request = TransitionRequest(scene: SceneName(unchecked: scene))
            let record = Record.start(request, id: TransitionID(rawValue: number), token: Token(high: 0, low: number))
            #expect(machine.apply(record, at: Self.moment(1), under: rules).records == [record])
        }
        start(1, in: "a", under: .first)
        #expect(machine.snapshot().prefix(2) == [1, 1])
        start(2, in: "b", under: .second)
        let bytes = machine.snapshot()
        #expect(bytes.prefix(2) == [1, 3])
        let restored = try ArbiterStateMachine(snapshot: bytes)
        #expect(restored.rules == .second)
        #expect(restored.transition(TransitionID(rawValue: 1))?.grant?.rules == .first)
        #expect(restored.transition(TransitionID(rawValue: 2))?.grant?.rules == .second)
        #expect(restored.snapshot() == bytes)
    }

    @Test(arguments: Rules.allCases)
    func `a state whose journal says what is forgotten has that in its snapshot`(rules: Rules) throws {
        var machine = Self.machine(seed: 7, steps: 60)
        #expect(try ArbiterStateMachine(snapshot: machine.snapshot()).retention == Limits().retention)
        let adoption = Record.adopt(Self.limits.retention)
        #expect(machine.apply(adoption, at: Self.moment(100), under: rules).records == [adoption])
        let restored = try ArbiterStateMachine(snapshot: machine.snapshot())
        #expect(restored.snapshot() == machine.snapshot())
        #expect(restored.retention == Self.limits.retention)
        #expect(restored.rules == max(rules, .newest), "it does not go back")
    }

    @Test func `nothing goes back to earlier rules`() {
        var machine = ArbiterStateMachine(rules: .second)
        #expect(machine.apply(.skipFences, at: Self.moment(1), under: .first).records == [.skipFences])
        #expect(machine.rules == .second)
        #expect(!machine.isBehind(Terms()))
    }

    @Test(arguments: [0, 1], [2, 4, 200])
    func `a snapshot of a newer form, or under newer rules, is told from a damaged one`(
        offset: Int, number: UInt8
    ) throws {
        var bytes = Self.machine(seed: 5, steps: 60).snapshot()
        bytes[offset] = 0
        let damage = #expect(throws: BinaryDecodingError.self) { try ArbiterStateMachine(snapshot: bytes) }
        #expect(damage?.isUnknownVersion == false)
        bytes[offset] = number
        guard offset == 0 || Rules(rawValue: number) == nil else { return }
        let error = #expect(throws: BinaryDecodingError.self) { try ArbiterStateMachine(snapshot: bytes) }
        #expect(error?.isUnknownVersion == true)
    }

    @Test(arguments: [LinePlace(rawValue: 0), LinePlace(rawValue: 2), .end])
    func `a transition at a place that it cannot have is refused`(place: LinePlace) throws {
        var machine = ArbiterStateMachine()
        let record = Record.start(TransitionRequest(), id: TransitionID(rawValue: 7), token: Token(high: 0, low: 7))
        #expect(machine.apply(record, at: Self.moment(1)).records == [record])
        let transition = try #require(machine.transition(TransitionID(rawValue: 7)))
        let moved = transition.moved(to: transition.order, place, later: .zero)
        var (whole, damaged) = (BinaryWriter(), BinaryWriter())
        whole.write(transition)
        damaged.write(moved)
        var bytes = machine.snapshot()
        let range = try #require(bytes.firstRange(of: whole.bytes))
        bytes.replaceSubrange(range, with: damaged.bytes)
        #expect(throws: BinaryDecodingError.self) { try ArbiterStateMachine(snapshot: bytes) }
    }

    @Test func `every truncation of a snapshot is refused`() throws {
        let bytes = Self.machine(seed: 3, steps: 40).snapshot()
        for count in 0..<bytes.count {
            #expect(throws: BinaryDecodingError.self) { try ArbiterStateMachine(snapshot: Array(bytes.prefix(count))) }
        }
        #expect(throws: BinaryDecodingError.self) { try ArbiterStateMachine(snapshot: bytes + [0]) }
    }

    @Test func `a count that cannot be costs nothing`() throws {
        // Behind the form and the rules all numbers are 0, nothing is held, and 2^32 - 1 sessions, transitions or ended ones
        // follow.
        let head = [1, 1] + [UInt8](repeating: 0, count: 42)
        for zeroes in [0, 4, 8] {
            let bytes = head + [UInt8](repeating: 0, count: zeroes) + [255, 255, 255, 255]
            let error = #expect(throws: BinaryDecodingError.self) { try ArbiterStateMachine(snapshot: bytes) }
            #expect(error?.offset == bytes.count)
        }
    }

    @Test(arguments: Seeds.first(5, atNight: 20))
    func `no change of a snapshot is more than refused`(seed: UInt64) throws {
        let bytes = Self.machine(seed: seed, steps: 60).snapshot()
        var random = SplitMix64(seed: seed)
        for _ in 0..<300 {
            // What is taken for a state is one: it can be written again.
            guard let machine = try? ArbiterStateMachine(snapshot: Self.changed(bytes, using: &random)) else {
                continue
            }
            let bytes = machine.snapshot()
            #expect(try ArbiterStateMachine(snapshot: bytes).snapshot() == bytes, "seed \(seed)")
        }
    }

    @Test func `every record comes back`() throws {
        for record in Self.records {
            var writer = BinaryWriter()
            writer.write(record)
            var reader = BinaryReader(writer.bytes)
            #expect(try reader.read(Record.self) == record)
            #expect(reader.isAtEnd)
        }
    }

    private static func written(_ value: Int64) -> BinaryReader {
        var writer = BinaryWriter()
        writer.write(value)
        return BinaryReader(writer.bytes)
    }

    private func expect<Value: BinaryCodable & Equatable>(
        _ range: ClosedRange<Int64>, of subject: String, _ value: (Int64) -> Value
    ) throws {
        for number in [range.lowerBound, 0, range.upperBound] {
            var reader = Self.written(number)
            #expect(try reader.read(Value.self) == value(number))
        }
        for number in [range.lowerBound - 1, range.upperBound + 1, .min, .max] {
            var reader = Self.written(number)
            let error = #expect(throws: BinaryDecodingError.self) { try reader.read(Value.self) }
            #expect(error?.subject == subject)
            #expect(error?.isUnknownVersion == false)
        }
    }

    @Test func `a time that no journal can have is damage`() throws {
        try expect(Limits.storedInstants, of: "an instant") { Instant(nanoseconds: $0) }
        try expect(Limits.storedDurations, of: "a duration") { Duration.nanoseconds($0) }
        try expect(Limits.storedTimestamps, of: "a time") { Timestamp(milliseconds: $0) }
    }

    @Test func `the times that a journal can have are added and subtracted without an overflow`() {
        let instants = [Limits.storedInstants.lowerBound, Limits.storedInstants.upperBound].map(
            Instant.init(nanoseconds:))
        let durations = [Limits.storedDurations.lowerBound, Limits.storedDurations.upperBound].map(Duration.nanoseconds)
        for (from, to) in instants.flatMap({ from in instants.map { (from, $0) } }) {
            for (one, other) in durations.flatMap({ one in durations.map { (one, $0) } }) {
                let deadline = to.advanced(by: one).advanced(by: other)
                #expect(from.advanced(by: from.duration(to: deadline)) == deadline)
            }
        }
    }

    @Test func `every truncation of a record is refused`() throws {
        for record in Self.records {
            var writer = BinaryWriter()
            writer.write(record)
            for count in 0..<writer.bytes.count {
                var reader = BinaryReader(Array(writer.bytes.prefix(count)))
                #expect(throws: BinaryDecodingError.self) { try reader.read(Record.self) }
            }
        }
    }

    @Test(arguments: Seeds.first(5, atNight: 50))
    func `no change of a record is more than refused`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for record in Self.records {
            var writer = BinaryWriter()
            writer.write(record)
            for _ in 0..<200 {
                var reader = BinaryReader(Self.changed(writer.bytes, using: &random))
                _ = try? reader.read(Record.self)
            }
        }
    }
}

// MARK: - Material

extension EncodingTests {
    private static let records: [Record] = {
        let (id, token) = (TransitionID(rawValue: .max), Token(high: 1, low: .max))
        let full = TransitionRequest(
            client: ClientName("ünï"), queue: .seconds(1), idempotencyKey: IdempotencyKey("key"))
        var records: [Record] = [
            .adopt(nil), .adopt(limits.retention), .distrust(holdsGrants: true), .distrust(holdsGrants: false),
            .skipFences, .resume, .stop,
        ]
        for request in [TransitionRequest(), full] {
            records += [
                .start(request, id: id, token: token), .serialize(request, id: id, token: token),
            ]
        }
        records += EndOutcome.allCases.map { .end(id, token: token, $0) }
        return records + ExpiryReason.allCases.map { .expire(id, $0) }
    }()

    private static let limits = {
        var limits = Limits()
        limits.retainedCount = 50
        limits.retainedDuration = .seconds(1)
        return limits
    }()

    private static func moment(_ number: Int) -> Moment {
        Moment(
            instant: Instant(nanoseconds: Int64(number) * 10_000_000), timestamp: Timestamp(milliseconds: Int64(number))
        )
    }

    /// A machine in some state that it can get into.
    private static func machine(seed: UInt64, steps: Int = 400) -> ArbiterStateMachine {
        var machine = ArbiterStateMachine(limits: limits)
        var random = SplitMix64(seed: seed)
        for number in 1...steps {
            guard let record = record(of: machine, at: moment(number), using: &random) else { continue }
            _ = machine.apply(record, at: moment(number))
        }
        return machine
    }

    /// Something that may happen next.
    private static func record(
        of machine: ArbiterStateMachine, at moment: Moment, using random: inout SplitMix64
    ) -> Record? {
        let unfinished = machine.list(TransitionFilter(limit: 1000), at: moment.instant).map(\.transition)
            .filter { !$0.isEnded }
        let (id, token) = (TransitionID(rawValue: random.next()), Token(high: random.next(), low: random.next()))
        let scene = SceneName("scene-\(random.next() % 5)") ?? .main
        let key = random.isOnce(in: 3) ? IdempotencyKey("key-\(random.next() % 40)") : nil
        let request = TransitionRequest(scene: scene, client: ClientName("view"), idempotencyKey: key)
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1: return .start(request, id: id, token: token)
        case 2, 3, 4: return .serialize(request, id: id, token: token)
        case 5, 6, 7:
            return unfinished.randomElement(using: &random).map { .end($0.id, token: $0.token, .completed) }
        case 8: return unfinished.randomElement(using: &random).map { .expire($0.id, .abandoned) }
        default: return random.isOnce(in: 4) ? .distrust(holdsGrants: random.isOnce(in: 2)) : .resume
        }
    }

    /// The bytes with one to four of them changed, and now and then with some taken out or put in.
    private static func changed(_ bytes: [UInt8], using random: inout SplitMix64) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            guard let index = bytes.indices.randomElement(using: &random) else { return bytes }
            switch Int.random(in: 0..<8, using: &random) {
            case 0: bytes.remove(at: index)
            case 1: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
            case 2: bytes[index] = 255
            default: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
        }
        return bytes
    }
}
