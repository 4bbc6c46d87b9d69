internal import DequeModule

extension ArbiterStateMachine {
    /// The durable state, byte for byte the same for the same state.
    package func snapshot() -> [UInt8] {
        var writer = BinaryWriter()
        writer.write(durable)
        return writer.bytes
    }

    /// A machine in the state of a snapshot; nothing momentary is true of it until it recovers.
    ///
    /// - Throws: `DecodingError` if the bytes are no snapshot.
    package init(snapshot: [UInt8], limits: Limits = Limits()) throws(DecodingError) {
        self.init(limits: limits)
        var reader = BinaryReader(snapshot)
        durable = try reader.read()
        guard reader.isAtEnd else { throw reader.malformed("the end of a snapshot") }
    }
}

extension DurableState: BinaryCodable {
    /// What snapshots begin with that say their form; those of the first form begin with an order, which is never this.
    private static let marker = UInt64.max
    /// The form that is written: the second has the number of the newest event of all scenes.
    private static let form: UInt8 = 2

    func encode(to writer: inout BinaryWriter) {
        writer.write(Self.marker)
        writer.write(Self.form)
        writer.write(lastEvent)
        writer.write(lastOrder)
        writer.write(lastFence)
        writer.write(isHoldingGrants)
        writer.write(forgotten)
        writer.write(sessions.values.sorted { $0.id < $1.id })
        writer.write(transitions.values.sorted { $0.order < $1.order })
        writer.write(ended.map(\.id))
        writer.write(UInt32(scenes.count))
        for (name, scene) in scenes.sorted(by: { $0.key.description < $1.key.description }) {
            writer.write(name)
            writer.write(scene.lastOrder)
            writer.write(scene.numbers)
            writer.write(scene.isDeclared)
            // Whoever has declared nothing has nothing to keep.
            if scene.isDeclared { writer.write(scene.storyboard) }
        }
    }

    init(from reader: inout BinaryReader) throws(DecodingError) {
        let first: UInt64 = try reader.read()
        if first == Self.marker {
            guard try reader.read(UInt8.self) == Self.form else { throw reader.malformed("the form of a snapshot") }
            lastEvent = try reader.read()
            lastOrder = try reader.read()
        } else {
            lastOrder = RequestOrder(rawValue: first)
        }
        lastFence = try reader.read()
        isHoldingGrants = try reader.readBool()
        forgotten = try reader.read()
        for session in try reader.readArray(of: Session.self) {
            guard sessions.updateValue(session, forKey: session.id) == nil else { throw reader.malformed("a session") }
            index.enter(session)
            memory.sessionCount += 1
        }
        let known: [Transition] = try reader.readArray()
        var previous = RequestOrder(rawValue: 0)
        for transition in known {
            guard previous < transition.order, transition.order <= lastOrder, transitions[transition.id] == nil else {
                throw reader.malformed("the order of the transitions")
            }
            previous = transition.order
            transitions[transition.id] = transition
            if let key = transition.request.idempotencyKey { keys[key] = transition.id }
        }
        for id in try reader.readArray(of: TransitionID.self) {
            guard let transition = transitions[id], case .ended(let ending) = transition.phase else {
                throw reader.malformed("an ended transition")
            }
            noteEnd(of: transition, at: ending.endedAt.instant)
        }
        guard Set(ended.map(\.id)).count == ended.count, ended.count == known.count(where: \.isEnded) else {
            throw reader.malformed("the ended transitions")
        }
        for _ in 0..<(try reader.read(UInt32.self)) {
            let name: SceneName = try reader.read()
            guard scenes[name] == nil else { throw reader.malformed("a scene") }
            var scene = Scene(lastOrder: try reader.read(), numbers: try reader.read())
            scene.isDeclared = try reader.readBool()
            if scene.isDeclared { scene.storyboard = try reader.read() }
            scenes[name] = scene
        }
        let unfinished = known.filter { !$0.isEnded }
        try restoreQueues(unfinished, &reader)
        for scene in scenes.values { count(scene) }
        for transition in unfinished { memory.charge(transition.request.byteCount, to: transition.session) }
    }

    /// Queues what is unfinished: first what is granted, which nothing stands in the way of, then what waits.
    private mutating func restoreQueues(
        _ unfinished: [Transition], _ reader: inout BinaryReader
    ) throws(DecodingError) {
        let unfinished = unfinished.sorted { $0.place < $1.place }
        guard Set(unfinished.map(\.place)).count == unfinished.count,
            unfinished.allSatisfy({ $0.place <= $0.order && scenes[$0.request.scene] != nil })
        else { throw reader.malformed("the places of the unfinished transitions") }
        for transition in unfinished { index.enter(transition) }
        for transition in unfinished where transition.state != .queued {
            scenes[transition.request.scene]?.queueUp(transition)
            guard scenes[transition.request.scene]?.queue.grantNext() == transition.id else {
                throw reader.malformed("a granted transition")
            }
            try reserve(what: transition, &reader)
        }
        for transition in unfinished where transition.state == .queued {
            let scene = transition.request.scene
            scenes[scene]?.queueUp(transition)
            scenes[scene]?.tickets.insert(transition.place)
        }
    }

    /// Reserves what the operation of a granted transition will bring in.
    private mutating func reserve(what transition: Transition, _ reader: inout BinaryReader) throws(DecodingError) {
        let name = transition.request.scene
        guard let operation = transition.request.operation, let scene = scenes[name] else { return }
        // What the others bring in left room for it when it was granted, in whatever order that was.
        guard let plan = try? scene.storyboard.plan(operation) else {
            throw reader.malformed("the operation of a granted transition")
        }
        scenes[name]?.reserved.formUnion(plan.arriving)
    }
}

extension Transition: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(id)
        writer.write(token)
        writer.write(order)
        writer.write(place)
        writer.write(isSerialized)
        writer.write(request)
        writer.write(scope)
        writer.write(lease)
        writer.write(requestedAt)
        writer.write(requestedRevision)
        writer.write(session)
        writer.write(participants)
        writer.write(gesture)
        writer.write(phase)
    }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(
            id: try reader.read(), token: try reader.read(), order: try reader.read(),
            place: try reader.read(), isSerialized: try reader.readBool(), request: try reader.read(),
            scope: try reader.read(),
            lease: try reader.read(), requestedAt: try reader.read(), requestedRevision: try reader.read(),
            session: try reader.readOptional(), participants: try reader.readArray(),
            gesture: try reader.readOptional(), phase: try reader.read()
        )
    }
}

extension Transition.Phase: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        switch self {
        case .queued(let queued):
            writer.write(UInt8(0))
            writer.write(queued.completesAtGrant)
        case .running(let grant):
            writer.write(UInt8(1))
            writer.write(grant)
        case .preparing(let grant):
            writer.write(UInt8(3))
            writer.write(grant)
        case .ended(let ending):
            writer.write(UInt8(2))
            writer.write(ending.outcome)
            writer.write(ending.grant)
            writer.write(ending.endedAt)
            writer.write(ending.change)
            writer.write(ending.isNoop)
            writer.write(ending.appearance)
        }
    }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        switch try reader.read(UInt8.self) {
        case 0:
            self = .queued(Transition.Queued(completesAtGrant: try reader.readBool()))
        case 1:
            self = .running(try reader.read())
        case 2:
            self = .ended(
                Transition.Ending(
                    outcome: try reader.read(), grant: try reader.readOptional(), endedAt: try reader.read(),
                    change: try reader.readOptional(), isNoop: try reader.readBool(),
                    appearance: try reader.readArray()))
        case 3:
            self = .preparing(try reader.read())
        default:
            throw reader.malformed("a phase")
        }
    }
}

extension Transition.Grant: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(fence)
        writer.write(grantedAt)
        writer.write(revision)
        writer.write(presenter)
        writer.write(animation)
        writer.write(appearance)
    }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(
            fence: try reader.read(), grantedAt: try reader.read(), revision: try reader.read(),
            presenter: try reader.readOptional(), animation: try reader.readOptional(),
            appearance: try reader.readArray())
    }
}

extension TransitionOutcome: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        switch self {
        case .completed: writer.write(UInt8(0))
        case .cancelled: writer.write(UInt8(1))
        case .expired(let reason):
            writer.write(UInt8(2))
            writer.write(reason)
        case .rejected(let rejection):
            writer.write(UInt8(3))
            writer.write(rejection)
        case .superseded(let other):
            writer.write(UInt8(4))
            writer.write(other)
        case .revoked(let reason):
            writer.write(UInt8(5))
            writer.write(reason)
        }
    }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        switch try reader.read(UInt8.self) {
        case 0: self = .completed
        case 1: self = .cancelled
        case 2: self = .expired(try reader.read())
        case 3: self = .rejected(try reader.read())
        case 4: self = .superseded(by: try reader.read())
        case 5: self = .revoked(try reader.read())
        default: throw reader.malformed("an outcome")
        }
    }
}

extension Scene.Numbers: BinaryCodable {
    func encode(to writer: inout BinaryWriter) {
        writer.write(revision)
        writer.write(event)
    }

    init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(revision: try reader.read(), event: try reader.read())
    }
}
