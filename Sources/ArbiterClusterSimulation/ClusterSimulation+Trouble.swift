internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

// What goes wrong, and when nothing does.

extension ClusterSimulation {
    mutating func passSeasons() throws(Broken) {
        if now >= seasonEnd {
            if isTroubled { makePeace() } else { try endPeace() }
        } else if isTroubled, now >= nextTrouble {
            makeTrouble()
            nextTrouble = now.advanced(by: chance.duration(.milliseconds(200) ... .seconds(5)))
        }
    }

    /// Everything that was wrong is put right.
    private mutating func makePeace() {
        note("peace")
        isTroubled = false
        quietSince = now
        seasonEnd = now.advanced(by: settings.peace)
        world.network.isTroubled = false
        world.network.healAll()
        cluster.etcd.goOn()
        cluster.etcd.hasRoom = true
        for node in cluster.running { node.process.goOn() }
        for number in 0..<settings.nodes where cluster.node(number) == nil { cluster.start(number) }
    }

    private mutating func endPeace() throws(Broken) {
        // A commit that is on its way arrives soon.
        let isSettled = cluster.running.flatMap(\.shards.here).allSatisfy(\.isSettled)
        guard isSettled || now >= seasonEnd.advanced(by: .seconds(5)) else { return }
        try checkPeace()
        note("trouble")
        isTroubled = true
        seasonEnd = now.advanced(by: settings.trouble)
        world.network.isTroubled = true
    }

    // MARK: - Troubles

    private mutating func makeTrouble() {
        let number = chance.number(in: 0...settings.nodes - 1)
        if settings.onlyPauses { return pauseNode(number) }
        switch chance.number(in: 0...12) {
        case 0...2: pauseNode(number)
        case 3, 4: kill(number)
        case 5: stop(number)
        case 6, 7: cut(.node(number), .etcd)
        case 8: cut(.clients, .node(number))
        case 9:
            cut(.node(number), .node((number + 1) % settings.nodes))
        case 10: useUpRoom()
        default: pauseLeader()
        }
    }

    private mutating func pauseNode(_ number: Int) {
        guard let node = cluster.node(number), node.process.isRunning else { return }
        statistics.count(.pauses)
        // Briefly, or until well after another node has taken over.
        let isLong = chance.isOnce(in: 2)
        let duration = chance.duration(isLong ? .seconds(5) ... .seconds(13) : .milliseconds(100) ... .seconds(2))
        note("node \(number) is paused for \(duration)")
        node.process.pause()
        world.timeline.schedule(after: duration) { node.process.goOn() }
    }

    private mutating func kill(_ number: Int) {
        guard let node = cluster.node(number) else { return }
        statistics.count(.kills)
        note("node \(number) is killed")
        cluster.kill(number)
        loseStreams(over: node.process)
        start(number, after: chance.duration(.milliseconds(100) ... .seconds(6)), isRebooted: chance.isOnce(in: 3))
    }

    private mutating func stop(_ number: Int) {
        guard let node = cluster.node(number), node.process.isRunning else { return }
        statistics.count(.stops)
        note("node \(number) is stopped")
        let (cluster, timeline) = (cluster, world.timeline)
        let pause = chance.duration(.milliseconds(100) ... .seconds(3))
        node.stop {
            timeline.schedule(after: .zero) {
                guard cluster.node(number) === node else { return }
                cluster.kill(number)
                cluster.signals.post(.died(node.process))
                timeline.schedule(after: pause) { if cluster.node(number) == nil { cluster.start(number) } }
            }
        }
    }

    private func start(_ number: Int, after pause: Duration, isRebooted: Bool) {
        let cluster = cluster
        world.timeline.schedule(after: pause) {
            if cluster.node(number) == nil { cluster.start(number, isRebooted: isRebooted) }
        }
    }

    /// Cuts one direction, or both.
    private mutating func cut(_ one: Network.Place, _ other: Network.Place) {
        let directions = [Network.Cut(from: one, to: other), Network.Cut(from: other, to: one)]
        statistics.count(.cuts)
        let chosen = chance.isOnce(in: 2) ? directions : [directions[chance.number(in: 0...1)]]
        let duration = chance.duration(.milliseconds(200) ... .seconds(8))
        note("\(chosen) is cut for \(duration)")
        let network = world.network
        for direction in chosen { network.cut(from: direction.from, to: direction.to) }
        world.timeline.schedule(after: duration) {
            for direction in chosen { network.heal(from: direction.from, to: direction.to) }
        }
    }

    private mutating func pauseLeader() {
        guard !cluster.etcd.isPaused else { return }
        statistics.count(.leaderPauses)
        let duration = chance.duration(.milliseconds(200) ... .seconds(5))
        note("etcd's leader is paused for \(duration)")
        let etcd = cluster.etcd
        etcd.pause(for: duration)
        world.timeline.schedule(after: duration) { etcd.goOn() }
    }

    private mutating func useUpRoom() {
        statistics.count(.shortages)
        let duration = chance.duration(.milliseconds(500) ... .seconds(12))
        note("etcd has no room for \(duration)")
        let etcd = cluster.etcd
        etcd.hasRoom = false
        world.timeline.schedule(after: duration) { etcd.hasRoom = true }
    }

    /// The node that a client was connected to notices that the connection is closed, and tells the session's home.
    func departClient(of stream: Int, _ path: Path) { Self.depart(stream, path, cluster, world) }

    private static func depart(_ stream: Int, _ path: Path, _ cluster: SimulatedCluster, _ world: World) {
        let nearest = path.relays.first ?? path.home
        guard !world.network.isCut(from: .clients, to: .node(nearest.node)) else {
            return world.timeline.schedule(after: .seconds(1)) { depart(stream, path, cluster, world) }
        }
        world.timeline.schedule(after: .milliseconds(1), in: nearest) {
            pass(stream, from: nearest, over: path.relays.dropFirst(), to: path.home, cluster, world)
        }
    }

    /// A node tells the next one that the client of a stream has left, until the session's home knows.
    private static func pass(
        _ stream: Int, from process: Process, over relays: ArraySlice<Process>, to home: Process,
        _ cluster: SimulatedCluster, _ world: World
    ) {
        guard process !== home else {
            cluster.node(home.node)?.close(stream)
            return
        }
        let next = relays.first ?? home
        world.network.send(from: .node(process.node), to: .node(next.node), in: next) {
            pass(stream, from: next, over: relays.dropFirst(), to: home, cluster, world)
        }
        // The connection between the nodes is closed, too; that alone says nothing about the client.
        world.timeline.schedule(after: .seconds(5), in: home) { cluster.node(home.node)?.loseRelay(of: stream) }
    }
}
