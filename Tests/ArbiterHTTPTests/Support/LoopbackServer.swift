import ArbiterRelay
import ArbiterTestKit
import Logging

@testable import ArbiterEngine
@testable import ArbiterHTTP

/// The whole arbiter in this process, on a real socket, with the system's clocks.
final class LoopbackServer {
    let engine: Engine
    let server: MicroHTTPDServer
    let loops = ServingLoops(count: 1)
    private let places: ServerPlaces
    private let hub: EventHub
    private let port: UInt16

    init(
        parked: Int, journal: any Journal = MemoryJournal(keepsRecords: false), access: AccessControl = AccessControl()
    ) throws {
        let hub = EventHub()
        self.hub = hub
        engine = try Engine(
            journal: journal, hearing: loops, alarm: loops, rounds: loops,
            listener: { [hub] in hub.publish($0) })
        let router = Router(
            shards: Shards(only: engine), hub: hub, access: access,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let socket = try ListeningSocket(NetworkAddress(host: "127.0.0.1", port: 0), beyondLoopback: false)
        port = socket.address.port ?? 0
        let limits = ServerLimits(parked: parked)
        places = ServerPlaces(limits)
        server = MicroHTTPDServer(router: router, places: places, limits: limits, loops: loops)
        try server.listen(on: socket)
    }

    deinit {
        engine.drain()
        hub.close()
        server.stop()
        engine.stop()
        loops.stop()
    }

    /// A new connection.
    func connect() throws -> WireClient { try WireClient(port: port) }

    /// How many places to wait are taken.
    var placesTaken: Int { places.parked.count }

    /// Whether so many places are taken before long.
    func takes(_ places: Int) -> Bool { eventually(within: .seconds(20)) { placesTaken == places } }

    /// Whether so many requests are parked in the engine before long; each takes its place before that.
    func parks(_ requests: Int) -> Bool {
        eventually(within: .seconds(20)) { engine.state.withLock { $0.parked.count } == requests }
    }
}
