internal import Dispatch

/// What a server allows.
package struct ServerLimits: Hashable, Sendable {
    /// The longest body that is read, in bytes, but for storyboards.
    package static let bodyBytes = 64 * 1024
    /// The longest storyboard that is read, in bytes.
    package static let storyboardBytes = 4 * 1024 * 1024
    /// A request with a longer body is carried out as long work, so that short ones need not wait until it is read.
    package static let shortBodyBytes = 4 * 1024
    /// Bodies longer than `bodyBytes` that are received at once.
    package static let largeBodies = 16
    /// Long answers to GET on their way at once: each keeps what it tells until its client has taken it.
    package static let longAnswers = 64
    /// Bytes that long answers keep together until their clients have taken them, estimated.
    ///
    /// Those of more than `answerBytes` count. Beyond it questions are refused; what has been done is still answered, up to
    /// `bytesOfAllAnswers`.
    package static let bytesOfAnswers = 128 << 20
    /// Bytes that such answers may keep together with the answers to requests that have changed something.
    static let bytesOfAllAnswers = bytesOfAnswers / 2 * 3
    /// The most bytes of one answer that are counted; a recording always counts as so many.
    static let bytesOfOneAnswer = bytesOfAnswers / 4
    /// How many bytes beyond the limit are read of a body that is too long, so that it can be answered properly.
    ///
    /// After these the connection is closed.
    package static let discardedBytes = 15 * bodyBytes
    /// The longest request line and header fields, in bytes, together.
    package static let headerBytes = 12 * 1024
    /// Memory of one connection, in bytes: beside the request's headers those of the response must fit.
    static let connectionBytes = 16 * 1024
    /// What the system may take of a stream before its client does, in bytes; Linux doubles it for its own needs.
    static let streamBytes: Int32 = 64 * 1024
    /// How long a stream's client, or the machine it runs on, may leave what is sent unacknowledged.
    static let streamMilliseconds: Int32 = 30_000
    /// Of an answer so many bytes are written at once; a longer one is written as its client takes it.
    static let answerBytes = 64 * 1024
    /// A page of a list ends with the entry that makes it longer than this, in bytes.
    static let pageBytes = 256 * 1024
    /// A transition that lists more controllers than this is written piece by piece.
    static let controllersAtOnce = 1_000
    /// The most parameters that a query may have.
    package static let queryParameters = 32
    /// How long a connection may be idle between requests, in seconds.
    static let idleSeconds = 60
    /// How long the head of a request may take to come, from its first byte to its last; the first one on a connection
    /// from the beginning of that.
    package static let headDuration = Duration.seconds(10)
    /// How long the body of a request may take to come, from the end of its head.
    package static let bodyDuration = Duration.seconds(30)
    /// How often it is looked whether a request takes too long.
    static let checkInterval = DispatchTimeInterval.seconds(1)
    /// How long a connection may be silent before the system asks whether its peer is still there, in seconds.
    static let keepAliveSeconds: Int32 = 15
    /// How long the system waits for the peer's answer before it asks again, in seconds.
    static let keepAliveProbeSeconds: Int32 = 5
    /// How often the system asks before it takes the peer for gone.
    static let keepAliveProbes: Int32 = 3
    /// How many connections one address may have, at least, on a listener for nodes before it has shown that it is a
    /// node.
    ///
    /// A node begins many connections at once.
    static let unknownNodeConnections = 256
    /// Connections that are there for those who do not wait, beside the parked ones.
    package static let activeConnections = 1024
    /// Connections beside those, for requests that must come through (`Route.mayUseReserve`); others are refused there.
    package static let reservedConnections = 1024
    /// Descriptors that are needed for everything but connections.
    package static let otherDescriptors = 128
    /// How long the last answers may take to leave, when the daemon stops.
    static let drainDuration = DispatchTimeInterval.seconds(5)

    /// Connections that may wait for an answer at once.
    package var parked: Int
    /// How long the head of a request may take to come.
    package var head = headDuration
    /// How long the body of a request may take to come.
    package var body = bodyDuration
    /// Connections of one IP address, or of one user of Unix sockets; `nil` for no limit but that of all.
    package var connectionsPerClient: Int?
    /// Requests that one principal, or one address without one, may make in a second; `nil` for no limit.
    package var requestsPerSecond: Int?

    /// Connections that may do anything.
    var ordinaryConnections: Int { parked + Self.activeConnections }

    package init(parked: Int) {
        self.parked = parked
    }
}

/// Why the server could not start.
package struct ServerError: Error, Hashable, Sendable {
    package let reason: String
}
