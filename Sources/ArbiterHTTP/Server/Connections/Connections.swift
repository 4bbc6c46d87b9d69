internal import ArbiterEngine
internal import Dispatch

/// All connections: admits new ones, and closes those that are too slow.
final class Connections: Sendable {
    private let state: Guarded<State>
    private let queue = DispatchQueue(label: "arbiter.connections")
    private let whenOneIsClosed: @Sendable () -> Void
    private let limits: ServerLimits
    private let metrics: ConnectionMetrics

    fileprivate struct State {
        var places: ConnectionPlaces
        var records: [ConnectionPlaces.ID: ConnectionRecord] = [:]
        /// The connections of each address and of each user, but for those of nodes that have shown who they are.
        var clients: [String: Int] = [:]
        /// No id is used twice.
        var lastID: ConnectionPlaces.ID = 0
        var isCheckDue = false
    }

    /// - Parameters:
    ///   - limits: how many there may be, and how long requests may take.
    ///   - metrics: where connections are counted.
    ///   - whenOneIsClosed: called for each connection that is closed for lack of room.
    init(limits: ServerLimits, metrics: ConnectionMetrics, whenOneIsClosed: @escaping @Sendable () -> Void) {
        self.limits = limits
        self.metrics = metrics
        self.whenOneIsClosed = whenOneIsClosed
        state = Guarded(
            State(
                places: ConnectionPlaces(
                    ordinary: limits.ordinaryConnections, reserve: ServerLimits.reservedConnections)))
    }

    /// A connection has been accepted, on the thread of the loop that serves it.
    func begin(_ descriptor: Int32, _ client: Peer, on loop: ServingLoop) -> ConnectionRecord {
        let (record, leaving, isFirst, isOneTooMany) = state.withLock {
            state -> (ConnectionRecord, ConnectionRecord?, Bool, Bool) in
            state.lastID += 1
            let record = ConnectionRecord(id: state.lastID, descriptor: descriptor, client: client, loop: loop)
            state.records[record.id] = record
            defer { state.isCheckDue = true }
            if state.count(client) > limits.connections(of: client) {
                return (record, nil, !state.isCheckDue, true)
            }
            var leaving: ConnectionRecord?
            switch state.places.admit(record.id) {
            case .admitted: break
            case .replacing(let victim): leaving = state.records[victim]
            case .refused: leaving = record
            }
            return (record, leaving, !state.isCheckDue, false)
        }
        metrics.accepted.add()
        metrics.open.add()
        if isOneTooMany {
            metrics.tooManyOfClient.add()
            record.shutDown()
        }
        if let leaving {
            metrics.crowded.add()
            leaving.shutDown()
            whenOneIsClosed()
        }
        if isFirst { checkLater() }
        return record
    }

    /// Whether a connection has an ordinary place; one in the reserve moves to a free ordinary place.
    func hasOrdinaryPlace(_ record: ConnectionRecord) -> Bool {
        state.withLock { $0.places.claimOrdinaryPlace(record.id) }
    }

    /// The other end has turned out to be a node, which may have any number of connections.
    func trust(_ record: ConnectionRecord) { state.withLock { $0.uncount(record.client) } }

    /// The connection has completed a request, and keeps its place from now on.
    func establish(_ record: ConnectionRecord) {
        state.withLock { $0.places.establish(record.id) }
    }

    /// The connection is about to be closed.
    func end(_ record: ConnectionRecord) {
        record.close()
        metrics.open.add(-1)
        state.withLock { state in
            state.places.leave(record.id)
            state.records[record.id] = nil
            if !record.isTrustedNode { state.uncount(record.client) }
        }
    }

    /// Checks all connections at intervals, as long as there are any.
    private func checkLater() {
        queue.asyncAfter(deadline: .now() + ServerLimits.checkInterval) { [weak self] in self?.check() }
    }

    private func check() {
        let records = state.withLock { state in
            state.isCheckDue = !state.records.isEmpty
            return Array(state.records.values)
        }
        let now = ContinuousClock.now
        for record in records where record.check(at: now, limits) { metrics.slow.add() }
        if !records.isEmpty { checkLater() }
    }
}

extension Connections.State {
    /// Counts a connection, unless it is that of a node for certain.
    ///
    /// - Returns: how many its other end has.
    fileprivate mutating func count(_ client: Peer) -> Int {
        guard !client.isTrustedNode else { return 0 }
        clients[client.key, default: 0] += 1
        return clients[client.key, default: 0]
    }

    fileprivate mutating func uncount(_ client: Peer) {
        let count = clients[client.key] ?? 0
        clients[client.key] = count > 1 ? count - 1 : nil
    }
}

extension ServerLimits {
    /// How many connections a client may have.
    fileprivate func connections(of client: Peer) -> Int {
        guard let connectionsPerClient else { return .max }
        return client.isNode ? max(connectionsPerClient, Self.unknownNodeConnections) : connectionsPerClient
    }
}
