import ArbiterTestKit
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

    /// A machine without transitions.
    ///
    /// Older layouts lack only what is at the end: the number of patches, and the transitions that others have waited for.
    private static func quietMachine() -> ArbiterStateMachine {
        var machine = ArbiterStateMachine(rules: .first)
        _ = machine.apply(.declare(.main, .empty), at: moment(1), under: .first)
        let opening = Record.openSession(
            client: ClientName("master"), timeToLive: .seconds(30), id: SessionID(rawValue: 7),
            token: Token(high: 7, low: 7))
        _ = machine.apply(opening, at: moment(2), under: .first)
        return machine
    }

    @Test func `a snapshot of the first form is read, and counts events from 0`() throws {
        let machine = Self.quietMachine()
        let bytes = machine.snapshot()
        // The first form lacks the marker, the form, the rules and the number of the newest event of all scenes.
        let restored = try ArbiterStateMachine(snapshot: Array(bytes.dropFirst(8 + 1 + 1 + 8).dropLast(8 + 4 + 4)))
        #expect(restored.lastEvent == EventNumber(rawValue: 0))
        #expect(restored.lastEvents() == machine.lastEvents())
        #expect(restored.snapshot().dropFirst(18) == bytes.dropFirst(18))
    }

    @Test func `a snapshot of the second form is read, under the first rules`() throws {
        let bytes = Self.quietMachine().snapshot()
        let second = bytes.prefix(8) + [2] + bytes.dropFirst(8 + 1 + 1)
        let restored = try ArbiterStateMachine(snapshot: Array(second.dropLast(8 + 4 + 4)))
        #expect(restored.durable.rules == .first)
        #expect(restored.snapshot() == bytes)
    }

    @Test func `a snapshot of the third form is read, under the rules that it names`() throws {
        let bytes = Self.quietMachine().snapshot()
        let third = bytes.prefix(8) + [3] + bytes.dropFirst(8 + 1)
        #expect(try ArbiterStateMachine(snapshot: Array(third.dropLast(8 + 4 + 4))).snapshot() == bytes)
    }

    @Test func `a state whose journal says what is forgotten has that in its snapshot`() throws {
        var machine = Self.quietMachine()
        let earlier = machine.snapshot()
        #expect(earlier[8] == 4, "earlier versions read it")
        for (rules, form) in [(Rules.third, 5), (.fourth, 6)] {
            let adoption = Record.adopt(Self.limits.retention)
            #expect(machine.apply(adoption, at: Self.moment(3), under: rules).records.count == 1)
            let restored = try ArbiterStateMachine(snapshot: machine.snapshot())
            #expect(machine.snapshot()[8] == form)
            #expect(restored.snapshot() == machine.snapshot())
            #expect(restored.retention == Self.limits.retention)
        }
        #expect(try ArbiterStateMachine(snapshot: earlier).retention == Limits().retention)
    }

    @Test(arguments: [8, 9])
    func `a snapshot of a newer form, or under newer rules, is told from a damaged one`(offset: Int) throws {
        var bytes = Self.machine(seed: 5, steps: 60).snapshot()
        bytes[offset] = 200
        let error = #expect(throws: BinaryDecodingError.self) { try ArbiterStateMachine(snapshot: bytes) }
        #expect(error?.isUnknownVersion == true)
    }

    @Test func `every truncation of a snapshot is refused`() throws {
        let bytes = Self.machine(seed: 3, steps: 40).snapshot()
        for count in 0..<bytes.count {
            #expect(throws: BinaryDecodingError.self) { try ArbiterStateMachine(snapshot: Array(bytes.prefix(count))) }
        }
        #expect(throws: BinaryDecodingError.self) { try ArbiterStateMachine(snapshot: bytes + [0]) }
    }

    @Test func `a count that cannot be costs nothing`() throws {
        // Orders, fences and the numbers of forgotten scenes are 0, nothing is held, and 2^32 - 1 transitions, ended ones or scenes follow.
        let head = [UInt8](repeating: 0, count: 33)
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
