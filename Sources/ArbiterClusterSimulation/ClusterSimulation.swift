internal import ArbiterCluster
internal import ArbiterCore
internal import ArbiterEngine

/// A random history of several nodes on a simulated etcd, with the real engines, journals and tenures.
///
/// All random values come from the seed, so the same seed gives the same history. Trouble and peace alternate: in trouble
/// nodes are paused, killed and cut off; at the end of peace everything has to be in order again.
package struct ClusterSimulation: ~Copyable {
    /// A call that is not answered yet.
    struct Pending {
        let client: Int
        let name: String
        let question: Question
        let scene: SceneName
        let isRepeated: Bool
        let sent: Instant
        /// The process that was asked.
        let node: Process?
    }

    /// The nodes that a stream goes through.
    struct Path {
        /// Those that have passed it on, the one that its client is connected to first.
        let relays: [Process]
        let home: Process
    }

    package let seed: UInt64
    package let settings: ClusterSimulationSettings
    package internal(set) var statistics = ClusterStatistics()

    let world: World
    let cluster: SimulatedCluster
    let scenes: [SceneName]
    var contenders: [Contender]
    var sessionClients: [SessionClient]

    // What the checks know.

    var history = History()
    var sessions = SessionBook()
    var events = EventBook()
    var stored: [StoredShard]
    /// The tenures in which each shard was served.
    var begun: [Set<Int64>]
    var transcript = Transcript()

    var pending: [Int: Pending] = [:]
    var paths: [Int: Path] = [:]
    var streams: [Int: OpenStream] = [:]
    var lastNumber = 0
    var lastKey = 0
    private(set) var stepCount = 0

    /// Whether there is trouble, and until when.
    var isTroubled = true
    var seasonEnd: Instant
    var nextTrouble = Instant(nanoseconds: 0)
    /// Since when there is peace.
    var quietSince = Instant(nanoseconds: 0)
    /// Whether clients ask for nothing new, because peace ends soon.
    var isCalm: Bool { !isTroubled && now.duration(to: seasonEnd) < .seconds(6) }

    /// - Parameters:
    ///   - seed: what all random values come from.
    ///   - settings: what there is; `nil` for what the seed draws.
    package init(seed: UInt64, settings: ClusterSimulationSettings? = nil) {
        let settings = settings ?? .drawn(by: seed)
        (self.seed, self.settings) = (seed, settings)
        world = World(seed: seed)
        cluster = SimulatedCluster(world, settings)
        let byShard = Self.scenes(ofEach: settings.shards)
        scenes = (0..<settings.scenes).map { byShard[$0 % settings.shards][$0 / settings.shards] }
        contenders = (0..<settings.contenders).map { Contender(name: "contender-\($0)") }
        sessionClients = (0..<settings.sessionClients).map { index in
            SessionClient(
                name: "visitor-\(index)", home: byShard[index % settings.shards][10 + index],
                away: byShard[(index + 1) % settings.shards][20 + index])
        }
        begun = Array(repeating: [], count: settings.shards)
        stored = (0..<settings.shards).map { StoredShard($0, settings) }
        seasonEnd = Instant(nanoseconds: 0).advanced(by: settings.trouble)
        transcript.isTraced = settings.isTraced
        world.network.isTroubled = true
        for node in 0..<settings.nodes { cluster.start(node) }
        for index in contenders.indices { contenders[index].awaited = pause(client: index, for: .seconds(2)) }
        for index in sessionClients.indices {
            sessionClients[index].awaited = pause(client: contenders.count + index, for: .seconds(2))
        }
        nextTrouble = Instant(nanoseconds: 0).advanced(by: .seconds(4))
    }

    deinit {
        for node in 0..<settings.nodes { cluster.kill(node) }
        world.timeline.clear()
        world.baton.end()
    }

    /// Names of scenes in each shard.
    private static func scenes(ofEach count: Int) -> [[SceneName]] {
        var found = Array(repeating: [SceneName](), count: count)
        var number = 0
        while found.contains(where: { $0.count < 40 }) {
            number += 1
            guard let scene = SceneName("scene-\(number)") else { continue }
            found[Slot(scene).shard(of: count)].append(scene)
        }
        return found
    }

    var chance: Chance { world.chance }
    /// The world's time, by which clients count.
    var now: Instant { world.timeline.now }

    /// A digest of the history.
    package var digest: UInt64 { transcript.digest }

    /// Runs a number of steps.
    ///
    /// - Throws: `ClusterViolation` at the first step that breaks a rule.
    package mutating func run(steps: Int) throws(ClusterViolation) {
        for _ in 0..<steps { try step() }
    }

    /// Has the next thing happen, and checks everything after it.
    ///
    /// - Throws: `ClusterViolation` if it breaks a rule.
    package mutating func step() throws(ClusterViolation) {
        stepCount += 1
        statistics.count(.steps)
        do throws(Broken) {
            try happen()
        } catch {
            throw ClusterViolation(
                seed: seed, step: stepCount, rule: error.rule, what: error.what, transcript: transcript.last)
        }
    }

    private mutating func happen() throws(Broken) {
        guard let entry = world.timeline.takeNext() else { preconditionFailure("nothing will ever happen again") }
        if let process = entry.process { process.run(entry.body) } else { entry.body() }
        try followStore()
        for signal in cluster.signals.takeAll() { try take(signal) }
        try passSeasons()
    }

    mutating func note(_ line: @autoclosure () -> String) {
        transcript.note("\(now.nanoseconds / 1_000_000) ms: \(line())")
    }

    // MARK: - Signals

    private mutating func take(_ signal: Signals.Signal) throws(Broken) {
        switch signal {
        case .answer(_, let send): send()
        case .attached(let number, let home, let relays): attach(number, at: home, over: relays)
        case .heard(let number, let reply): try hear(number, reply)
        case .timer(let client, let number): try wake(client, number)
        case .began(let shard, let tenure, let node):
            note("node \(node) begins to serve shard \(shard) in tenure \(tenure)")
            guard begun[shard].insert(tenure).inserted else {
                throw Broken(.tenure, "node \(node) serves shard \(shard) twice in tenure \(tenure)")
            }
        case .events(let shard, let tenure, let node, let told):
            statistics.count(.events, by: told.count)
            note("node \(node) tells \(told.count) events of shard \(shard)")
            for event in told { try events.note(event, by: node, in: tenure) }
        case .forgot(let shard, let tenure, let node):
            note("node \(node) begins with a newer snapshot of shard \(shard)")
            events.forget(from: node, in: tenure) { [settings] in Slot($0).shard(of: settings.shards) == shard }
        case .comment(let stream): hearComment(on: stream)
        case .died(let process): loseStreams(over: process)
        case .counted(let figure): statistics.count(figure)
        case .misrelayed(let what): throw Broken(.relay, what)
        }
    }

    /// The home of a session has a stream.
    private mutating func attach(_ number: Int, at home: Process, over relays: [Process]) {
        note("stream \(number) is attached at node \(home.node), over \(relays.map(\.node))")
        paths[number] = Path(relays: relays, home: home)
        if relays.contains(where: \.isDead) { loseRelay(of: number) }
        // Its client has closed the connection before, and may have asked something else since.
        if pending[number] == nil { cluster.node(home.node)?.giveUp(number) }
    }

    // MARK: - Calls

    /// Has a client ask something.
    ///
    /// - Returns: the number of the call.
    mutating func call(
        _ question: Question, of client: Int, name: String, scene: SceneName, isRepeated: Bool = false,
        session: Token? = nil
    ) -> Int {
        lastNumber += 1
        let (number, signals) = (lastNumber, cluster.signals)
        statistics.count(.calls)
        history.noteSending(of: question.key, at: now)
        let place = chance.number(in: 0...settings.nodes - 1)
        let node = cluster.node(place)
        pending[number] = Pending(
            client: client, name: name, question: question, scene: scene, isRepeated: isRepeated, sent: now,
            node: node?.process)
        note("\(name) asks node \(place): \(question.text)")
        if let node {
            let ask = Ask(number: number, question: question, session: session)
            let network = world.network
            network.send(from: .clients, to: .node(place), in: node.process) {
                node.take(ask) { reply, _ in
                    network.send(from: .node(place), to: .clients) { signals.post(.heard(number, reply)) }
                }
            }
        } else {
            world.timeline.schedule(after: .milliseconds(1)) { signals.post(.heard(number, .notOwner)) }
        }
        let patience = chance.duration(.seconds(2) ... .seconds(10))
        world.timeline.schedule(after: question.wait + patience) {
            signals.post(.timer(client: client, number: number))
        }
        return number
    }

    /// Has a client do nothing for a while.
    ///
    /// - Returns: the number of the pause.
    mutating func pause(client: Int, for duration: Duration) -> Int {
        lastNumber += 1
        let (number, signals) = (lastNumber, cluster.signals)
        world.timeline.schedule(after: duration) { signals.post(.timer(client: client, number: number)) }
        return number
    }

    private mutating func hear(_ number: Int, _ reply: Reply) throws(Broken) {
        guard let call = pending.removeValue(forKey: number) else { return }
        note("\(call.name) hears: \(reply.text)")
        switch reply {
        case .transition, .session, .attached: statistics.count(.acknowledgedCalls)
        case .notOwner: statistics.count(.callsWithoutOwner)
        case .unavailable: statistics.count(.uncertainCalls)
        case .refused: break
        }
        try history.note(
            Call(
                number: number, client: call.name, question: call.question, scene: call.scene,
                key: call.question.key, isRepeated: call.isRepeated, sent: call.sent, answered: now, reply: reply))
        try hear(reply, number, of: call)
    }

    /// The time of a pause or of a call has run out.
    private mutating func wake(_ client: Int, _ number: Int) throws(Broken) {
        if let call = pending.removeValue(forKey: number) {
            statistics.count(.callsWithoutAnswer)
            note("\(call.name) hears nothing")
            if paths[number] != nil { closeStream(number) }
            abandon(number, at: call.node)
            return try hear(nil, number, of: call)
        }
        if client < contenders.count {
            if contenders[client].awaited == number { wake(contender: client) }
        } else if sessionClients[client - contenders.count].awaited == number {
            wake(sessionClient: client - contenders.count)
        }
    }

    /// The client of a call closes its connection, which its node notices.
    private func abandon(_ number: Int, at process: Process?) {
        guard let process, let node = cluster.node(process.node), node.process === process else { return }
        world.network.send(from: .clients, to: .node(process.node), in: process) { node.abandon(number) }
    }

    private mutating func hear(_ reply: Reply?, _ number: Int, of call: Pending) throws(Broken) {
        if call.client < contenders.count {
            if contenders[call.client].awaited == number { hear(reply, contender: call.client) }
        } else {
            let index = call.client - contenders.count
            guard sessionClients[index].awaited == number else { return }
            try hear(reply, number: number, sent: call.sent, sessionClient: index)
        }
    }
}
