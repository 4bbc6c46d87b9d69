internal import ArbiterEngine
internal import Dispatch

/// Every connection there is: who has a place, and who takes too long.
final class Connections: Sendable {
    private let state: Guarded<State>
    private let queue = DispatchQueue(label: "arbiter.connections")
    private let whenOneIsClosed: @Sendable () -> Void

    private struct State {
        var places: ConnectionPlaces
        var records: [ConnectionPlaces.ID: ConnectionRecord] = [:]
        /// No id is ever given twice.
        var lastID: ConnectionPlaces.ID = 0
        var isCheckDue = false
    }

    /// - Parameters:
    ///   - ordinary: connections that may do anything.
    ///   - reserve: connections that there may be beside these, for requests that must come through.
    ///   - whenOneIsClosed: called for each connection that is closed for want of room.
    init(ordinary: Int, reserve: Int, whenOneIsClosed: @escaping @Sendable () -> Void) {
        self.whenOneIsClosed = whenOneIsClosed
        state = Guarded(State(places: ConnectionPlaces(ordinary: ordinary, reserve: reserve)))
    }

    /// A connection has been accepted.
    func begin(_ descriptor: Int32) -> ConnectionRecord {
        let (record, leaving, isFirst) = state.withLock { state in
            state.lastID += 1
            let record = ConnectionRecord(id: state.lastID, descriptor: descriptor)
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

    /// Whether it has an ordinary place, or gets one that has become free.
    func hasOrdinaryPlace(_ record: ConnectionRecord) -> Bool {
        state.withLock { $0.places.claimOrdinaryPlace(record.id) }
    }

    /// It has completed a request, and keeps its place.
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

    /// Looks at all of them again and again while there are any.
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
        if !records.isEmpty { checkLater() }
    }
}
