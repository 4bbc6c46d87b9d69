internal import ArbiterEngine
internal import Dispatch

/// All connections: admits new ones, and closes those that are too slow.
final class Connections: Sendable {
    private let state: Guarded<State>
    private let watcher: PeerWatcher
    private let queue = DispatchQueue(label: "arbiter.connections")
    private let whenOneIsClosed: @Sendable () -> Void
    private let whenChecked: Guarded<@Sendable () -> Void> = Guarded({})

    private struct State {
        var places: ConnectionPlaces
        var records: [ConnectionPlaces.ID: ConnectionRecord] = [:]
        /// No id is used twice.
        var lastID: ConnectionPlaces.ID = 0
        var isCheckDue = false
    }

    /// - Parameters:
    ///   - ordinary: the number of connections that may do anything.
    ///   - reserve: the number of connections beyond these, for requests that must come through.
    ///   - watcher: watches the clients that wait.
    ///   - whenOneIsClosed: called for each connection that is closed for lack of room.
    init(ordinary: Int, reserve: Int, watcher: PeerWatcher, whenOneIsClosed: @escaping @Sendable () -> Void) {
        self.watcher = watcher
        self.whenOneIsClosed = whenOneIsClosed
        state = Guarded(State(places: ConnectionPlaces(ordinary: ordinary, reserve: reserve)))
    }

    /// Calls this after each check, about once a second while there are connections.
    func afterEachCheck(_ action: @escaping @Sendable () -> Void) {
        whenChecked.withLock { $0 = action }
    }

    /// A connection has been accepted.
    func begin(_ descriptor: Int32, _ client: Peer) -> ConnectionRecord {
        let (record, leaving, isFirst) = state.withLock { state in
            state.lastID += 1
            let record = ConnectionRecord(
                id: state.lastID, descriptor: descriptor, client: client, watcher: watcher)
            state.records[record.id] = record
            var leaving: ConnectionRecord?
            switch state.places.admit(record.id) {
            case .admitted: break
            case .replacing(let victim): leaving = state.records[victim]
            case .refused: leaving = record
            }
            defer { state.isCheckDue = true }
            return (record, leaving, !state.isCheckDue)
        }
        if let leaving {
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

    /// The connection has completed a request, and keeps its place from now on.
    func establish(_ record: ConnectionRecord) {
        state.withLock { $0.places.establish(record.id) }
    }

    /// The connection is about to be closed.
    func end(_ record: ConnectionRecord) {
        record.close()
        state.withLock { state in
            state.places.leave(record.id)
            state.records[record.id] = nil
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
        for record in records { record.check(at: now) }
        whenChecked.withLock({ $0 })()
        if !records.isEmpty { checkLater() }
    }
}
