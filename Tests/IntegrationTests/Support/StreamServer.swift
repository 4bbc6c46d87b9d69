internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterHTTP
import ArbiterRelay
internal import ArbiterTestKit
internal import Logging

/// The server on real sockets in this process, with events that the test makes up.
final class StreamServer {
    let hub: EventHub
    let port: UInt16
    private let server: MicroHTTPDServer
    private let engine: Engine
    private let loops: ServingLoops

    init(parked: Int = 2000, threads: Int = 2, limits: EventLimits = EventLimits()) throws {
        hub = EventHub(limits: limits)
        loops = ServingLoops(count: threads)
        engine = try Engine(journal: MemoryJournal(keepsRecords: false))
        let router = Router(
            shards: Shards(only: engine), hub: hub, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let socket = try ListeningSocket(NetworkAddress(host: "127.0.0.1", port: 0), beyondLoopback: false)
        port = socket.address.port ?? 0
        let limits = ServerLimits(parked: parked)
        server = MicroHTTPDServer(router: router, places: ServerPlaces(limits), limits: limits, loops: loops)
        try server.listen(on: socket)
    }

    /// Ends every stream, and then the server.
    func stop() {
        hub.close()
        server.stop()
    }

    deinit {
        stop()
        engine.stop()
        loops.stop()
    }

    /// A new stream, which is there already when this returns.
    func follow(_ query: String = "", headers: [String] = []) throws -> WireEventStream {
        let stream = try WireEventStream(port: port, query: query, headers: headers)
        if stream.head.status == 200 { try stream.receiveComments(1) }
        return stream
    }

    /// A new stream, as soon as a place is free; `nil` if none ever is.
    func followWhenThereIsPlace() throws -> WireEventStream? {
        var stream: WireEventStream?
        _ = try eventually {
            stream = try follow()
            return stream?.head.status == 200
        }
        return stream?.head.status == 200 ? stream : nil
    }

    func publish(_ numbers: ClosedRange<UInt64>) {
        hub.publish(SceneEvent.samples(numbers))
    }
}
