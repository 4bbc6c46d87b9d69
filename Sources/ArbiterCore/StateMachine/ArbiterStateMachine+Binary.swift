internal import DequeModule

extension ArbiterStateMachine {
    /// The durable state as bytes; equal states give equal bytes.
    package func snapshot() -> [UInt8] {
        // The estimate is more than the bytes, and memory that is not used costs nothing.
        var writer = BinaryWriter(capacity: durable.memory.held + durable.memory.ended)
        writer.write(durable)
        return writer.bytes
    }

    /// Writes the same bytes piece by piece, so that they are never in memory as a whole.
    ///
    /// - Returns: how many there are; `nil` if the sink did not take a piece.
    package func snapshot(to sink: @escaping BinaryWriter.Sink) -> Int? {
        var writer = BinaryWriter(to: sink)
        writer.write(durable)
        return writer.finish()
    }

    /// Whether a snapshot is the same as this machine's, which is not made as a whole.
    package func matches(_ snapshot: [UInt8]) -> Bool {
        let count = self.snapshot { piece, offset in
            offset + piece.count <= snapshot.count && snapshot[offset..<offset + piece.count].elementsEqual(piece)
        }
        return count == snapshot.count
    }

    /// Reads the durable state from a snapshot; the momentary state is empty until `recover(at:)`.
    ///
    /// - Throws: `BinaryDecodingError` if the bytes are not a snapshot.
    package init(snapshot: [UInt8], limits: Limits = Limits()) throws(BinaryDecodingError) {
        try self.init(snapshot: BinaryReader(snapshot), limits: limits)
    }

    /// Reads the durable state from a snapshot of which only a piece is in memory.
    ///
    /// - Throws: `BinaryDecodingError` if the bytes are not a snapshot.
    package init(snapshot: BinaryReader, limits: Limits = Limits()) throws(BinaryDecodingError) {
        self.init(limits: limits)
        var reader = snapshot
        durable = try reader.read()
        guard reader.isAtEnd else { throw reader.malformed("the end of a snapshot") }
    }
}

extension DurableState: BinaryCodable {
    /// The form of a snapshot, its first byte.
    private static let form: UInt8 = 1

    /// What is written about a scene's storyboard.
    private enum Kept {
        static let nothing: UInt8 = 0
        static let declared: UInt8 = 1
        /// Nobody has declared the scene, but a transition has set its root.
        static let undeclared: UInt8 = 2
        /// Besides one of the others: guards follow.
        static let guards: UInt8 = 4
    }

    func encode(to writer: inout BinaryWriter) {
        writer.write(Self.form)
        writer.write(rules)
        writer.write(retention)
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
            writer.write(
                (scene.isDeclared ? Kept.declared : scene.hasStoryboard ? Kept.undeclared : Kept.nothing)
                    | (scene.guards.isEmpty ? 0 : Kept.guards))
            if scene.hasStoryboard { writer.write(scene.storyboard) }
            if scene.isDeclared { writer.write(scene.patches) }
            if !scene.guards.isEmpty { writer.write(scene.guards) }
            writer.passOnIfMuch()
        }
        writer.write(scenes.values.flatMap(\.queue.contended).sorted())
    }

    init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        let form: UInt8 = try reader.read()
        guard form > 0 else { throw reader.malformed("the form of a snapshot") }
        guard form == Self.form else { throw reader.unknownVersion("form \(form) of a snapshot") }
        rules = try reader.read()
        retention = try reader.readOptional()
        lastEvent = try reader.read()
        lastOrder = try reader.read()
        lastFence = try reader.read()
        isHoldingGrants = try reader.readBool()
        forgotten = try reader.read()
        for session in try reader.readArray(of: Session.self) {
            guard sessions.updateValue(session, forKey: session.id) == nil else { throw reader.malformed("a session") }
            memory.sessionCount += 1
            memory.visits += session.scenes.count
        }
        let known: [Transition] = try reader.readArray()
        var previous = RequestOrder(rawValue: 0)
        for transition in known {
            guard previous < transition.order, transition.order <= lastOrder, !transitions.contains(transition.id),
                transition.hasPossiblePlace
            else {
                throw reader.malformed("the order of the transitions")
            }
            guard !transition.isPerformed || transition.grant != nil && transition.request.operation != nil else {
                throw reader.malformed("a transition that has been given its operation")
            }
            previous = transition.order
            transitions[transition.id] = transition
            file(transition)
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
            guard !scenes.contains(name) else { throw reader.malformed("a scene") }
            var scene = Scene(lastOrder: try reader.read(), numbers: try reader.read())
            let facts: UInt8 = try reader.read()
            let kept = facts & ~Kept.guards
            guard kept <= Kept.undeclared else { throw reader.malformed("whether a scene is declared") }
            scene.isDeclared = kept == Kept.declared
            if kept != Kept.nothing { scene.storyboard = try reader.read() }
            if scene.isDeclared { scene.patches = try reader.read() }
            if facts & Kept.guards != 0 { scene.guards = try reader.readArray() }
            scenes[name] = scene
        }
        index.sceneNames = SceneNames(scenes.keys)
        let unfinished = known.filter { !$0.isEnded }
        let contended: [TransitionID] = try reader.readArray()
        try restoreQueues(unfinished, contended: contended, &reader)
        for id in sessions.keys {
            guard var session = sessions[id] else { continue }
            session.caller = index.shared(session.caller)
            sessions[id] = session
            index.enter(session)
        }
        for (name, scene) in scenes {
            count(scene)
            for known in scene.guards {
                guard sessions[known.session]?.client == known.client else { throw reader.malformed("a guard") }
                index.guards[known.session, default: []].insert(name)
                memory.charge(known.byteCount, to: known.session)
            }
        }
        for transition in unfinished { memory.charge(transition.unfinishedByteCount, to: transition.session) }
    }

    /// Fills the queues, first with the granted transitions, so that no ticket blocks one, and then with the tickets.
    private mutating func restoreQueues(
        _ unfinished: [Transition], contended: [TransitionID], _ reader: inout BinaryReader
    ) throws(BinaryDecodingError) {
        let unfinished = unfinished.sorted { $0.place < $1.place }
        guard Set(unfinished.map(\.place)).count == unfinished.count,
            unfinished.allSatisfy({ scenes.contains($0.request.scene) })
        else { throw reader.malformed("the places of the unfinished transitions") }
        for transition in unfinished { index.enter(transition) }
        for transition in unfinished where transition.state != .queued {
            guard scenes[transition.request.scene]?.restore(transition) == true else {
                throw reader.malformed("a granted transition")
            }
            try reserve(what: transition, &reader)
        }
        for transition in unfinished where transition.state == .queued {
            let scene = transition.request.scene
            scenes[scene]?.enterQueued(transition)
            memory.queued += 1
        }
        for id in contended {
            guard let transition = transitions[id],
                scenes[transition.request.scene]?.queue.noteContention(of: transition.place) == id
            else { throw reader.malformed("a transition that others have waited for") }
        }
        for name in scenes.keys { scenes[name]?.queue.forgetChanges() }
    }

    /// Reserves the ids that the operation of a granted transition will insert.
    private mutating func reserve(what transition: Transition, _ reader: inout BinaryReader) throws(BinaryDecodingError)
    {
        let name = transition.request.scene
        guard let operation = transition.request.operation, let scene = scenes[name] else { return }
        // Planned without the other reservations: at its grant there was room beside them, in whatever order they came.
        guard let grant = transition.grant,
            let plan = try? scene.storyboard.plan(operation, under: grant.rules)
        else {
            throw reader.malformed("the operation of a granted transition")
        }
        scenes[name]?.reserved.formUnion(plan.arriving)
    }
}

extension Transition {
    /// Whether its place in the line is that of its own order, or of an earlier one, and of a priority that there is.
    fileprivate var hasPossiblePlace: Bool {
        place.order > RequestOrder(rawValue: 0) && place.order <= order && order <= LinePlace.lastOrder
            && Limits.priorities.contains(priority.value) && place == LinePlace(place.order, priority)
    }
}

extension Scene.Numbers: BinaryCodable {
    func encode(to writer: inout BinaryWriter) {
        writer.write(revision)
        writer.write(event)
    }

    init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(revision: try reader.read(), event: try reader.read())
    }
}

extension Session: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(id)
        writer.write(token)
        writer.write(client)
        writer.write(timeToLive)
        writer.write(startedAt)
        writer.write(caller)
        writer.write(scenes.sorted { $0.description < $1.description })
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(
            id: try reader.read(), token: try reader.read(), client: try reader.readOptional(),
            timeToLive: try reader.read(), startedAt: try reader.read(), caller: try reader.read(),
            scenes: Set(try reader.readArray(of: SceneName.self)))
    }
}
