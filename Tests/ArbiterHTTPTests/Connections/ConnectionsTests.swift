import ArbiterEngine
import Glibc
import Testing

@testable import ArbiterHTTP

/// How many connections each client may have.
struct ConnectionsTests {
    private let metrics = Metrics()

    /// The connections, with a limit of 2 for each client.
    private func connections() -> Connections {
        var limits = ServerLimits(parked: 1000)
        limits.connectionsPerClient = 2
        return Connections(limits: limits, metrics: metrics.connections, whenOneIsClosed: {})
    }

    private func refusals(of client: Peer, _ count: Int, trustingEach isTrusted: Bool = false) throws -> Int {
        let (connections, loop) = (connections(), ServingLoop())
        var (records, descriptors) = ([ConnectionRecord](), [Int32]())
        for _ in 0..<count {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            try #require(descriptor >= 0)
            descriptors.append(descriptor)
            let record = connections.begin(descriptor, client, on: loop)
            if isTrusted {
                _ = record.client { PeerCertificate(commonName: "node") }
                connections.trust(record)
            }
            records.append(record)
        }
        for record in records { connections.end(record) }
        for descriptor in descriptors { close(descriptor) }
        return metrics.connections.tooManyOfClient.count
    }

    @Test func `a client has as many connections as it may have`() throws {
        #expect(try refusals(of: .network(address: "192.0.2.1"), 5) == 3)
    }

    @Test func `a node that has shown who it is may have any number`() throws {
        let most = ServerLimits.unknownNodeConnections
        #expect(try refusals(of: .node(address: "192.0.2.1", isTrusted: true), most + 5) == 0)
        #expect(try refusals(of: .node(address: "192.0.2.1", isTrusted: false), most + 5, trustingEach: true) == 0)
    }

    @Test func `a stranger where only nodes may connect has a limit`() throws {
        let most = ServerLimits.unknownNodeConnections
        #expect(try refusals(of: .node(address: "192.0.2.1", isTrusted: false), most + 5) == 5)
    }
}
