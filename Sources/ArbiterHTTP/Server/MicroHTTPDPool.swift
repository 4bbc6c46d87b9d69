internal import Synchronization

/// Daemons of libmicrohttpd, one for each thread, among which connections are divided in turn.
///
/// libmicrohttpd has no pool of threads where it does not accept connections itself.
final class MicroHTTPDPool: Sendable {
    private let daemons: [MicroHTTPDDaemon]
    private let last = Atomic(0)

    init(_ daemons: [MicroHTTPDDaemon]) {
        self.daemons = daemons
    }

    var connectionCount: Int { daemons.reduce(0) { $0 + $1.connectionCount } }

    /// Serves a connection, and closes it in the end.
    func add(_ connection: AcceptedConnection) {
        let number = last.wrappingAdd(1, ordering: .relaxed).newValue
        daemons[Int(UInt(bitPattern: number) % UInt(daemons.count))].add(connection)
    }

    /// Closes all connections.
    func stop() {
        for daemon in daemons { daemon.stop() }
    }
}
