internal import ArbiterEngine
internal import CGnuTLS
internal import CLinux
internal import Glibc

/// One connection, from its acceptance to its end.
///
/// `@unchecked`: what changes and is not guarded belongs to the loop's thread.
final class ConnectionRecord: @unchecked Sendable {
    let id: ConnectionPlaces.ID
    /// The other end of the connection.
    let client: Peer
    let peer: WatchedPeer
    /// What serves it.
    let loop: ServingLoop
    /// The header fields of its current request: its own, or those of a known head.
    private(set) var fields: MicroHTTPDFields
    private let ownFields = MicroHTTPDFields()
    private var knownHeads = KnownHeads()
    /// Whether libmicrohttpd leaves it alone until it is resumed.
    var isSuspended = false
    /// How many parts of bodies have been read.
    private var partCount: UInt64 = 0
    /// What was unread at the last look for bodies that have stopped, if its body had.
    private var stuck: (unread: Int, parts: UInt64, looks: Int)?
    private let descriptor: Int32
    private let state: Guarded<State>

    private struct State {
        var progress: ConnectionProgress
        var target = RequestTarget()
        /// The address of the target in libmicrohttpd's memory.
        var targetAddress: UInt = 0
        /// Parameters that libmicrohttpd parses itself, because they follow a NUL.
        var hiddenParameters = 0
        var hasCompletedRequest = false
        /// The other end with its certificate, once that is known.
        var identified: Peer?
        /// While this is true, the descriptor is not reused for another connection.
        var isOpen = true
    }

    init(id: ConnectionPlaces.ID, descriptor: Int32, client: Peer, loop: ServingLoop) {
        self.id = id
        self.client = client
        self.loop = loop
        fields = ownFields
        peer = WatchedPeer(descriptor, loop: loop)
        self.descriptor = descriptor
        state = Guarded(State(progress: ConnectionProgress(acceptedAt: .now)))
    }

    // MARK: On the connection's own thread

    /// The other end of a connection over TLS, with its certificate.
    ///
    /// - Parameter certificate: finds the certificate; called once.
    /// - Returns: the other end, and whether it is known since just now.
    func client(_ certificate: () -> PeerCertificate?) -> (peer: Peer, isNew: Bool) {
        state.withLock { state in
            if let identified = state.identified { return (identified, false) }
            let (address, shown) = (client.address ?? "", certificate())
            let identified =
                client.isNode
                ? Peer.node(address: address, isTrusted: shown != nil)
                : .encrypted(address: address, certificate: shown)
            state.identified = identified
            return (identified, true)
        }
    }

    /// Whether the other end is a node for certain.
    var isTrustedNode: Bool { state.withLock { ($0.identified ?? client).isTrustedNode } }

    /// Whether the bytes on the connection are those of its requests; over TLS there are more.
    private var hasPlainBytes: Bool {
        switch client {
        case .encrypted, .node(_, isTrusted: false): false
        case .network, .local, .node: true
        }
    }

    /// The target of a request has been received.
    func targetIsKnown(_ target: RequestTarget, at address: UInt) {
        state.withLock { state in
            state.target = target
            state.targetAddress = address
            state.hiddenParameters = 0
        }
    }

    /// libmicrohttpd unescapes a part of the target.
    ///
    /// If it had no memory left for more parameters, it would neither answer nor close the connection.
    func partIsRead(at address: UInt) {
        let isTooMany = state.withLock { state in
            if address != state.targetAddress { state.hiddenParameters += 1 }
            return state.hiddenParameters > ServerLimits.queryParameters
        }
        if isTooMany { shutDown() }
    }

    /// The head of a request is complete.
    ///
    /// - Parameters:
    ///   - bytes: the head in libmicrohttpd's memory.
    ///   - lines: how many lines it has there, and the sum of their places.
    ///   - check: checks a head that is not known, and reads its fields.
    /// - Returns: the head, and what is known of it; heads are kept from a connection's second request on.
    func headIsWhole(
        _ bytes: UnsafeRawBufferPointer, lines: (count: Int, starts: Int),
        _ check: (RequestTarget, MicroHTTPDFields) -> MicroHTTPDHead
    ) -> (MicroHTTPDHead, KnownHead?) {
        let now = ContinuousClock.now
        let (target, isFirst) = state.withLock { state in
            state.progress.headIsWhole(at: now)
            return (state.target, !state.hasCompletedRequest)
        }
        let form = HeadForm(target: target, lineCount: lines.count, lineStarts: lines.starts)
        if let known = unsafe knownHeads.find(bytes, form) {
            fields = known.fields
            unsafe fields.rebase(bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
            return (known.head, known)
        }
        fields = ownFields
        let head = check(target, fields)
        guard !isFirst else { return (head, nil) }
        return unsafe (head, knownHeads.keep(bytes, form, head, fields))
    }

    /// Reads the fields of a head that may not be complete.
    func readFields(_ read: (MicroHTTPDFields) -> Void) {
        fields = ownFields
        read(fields)
    }

    /// The request is complete, and its handling begins.
    ///
    /// - Returns: whether it is the first on this connection.
    func requestIsWhole() -> Bool {
        state.withLock { state in
            state.progress.requestIsWhole()
            defer { state.hasCompletedRequest = true }
            return !state.hasCompletedRequest
        }
    }

    func answerHasLeft(_ size: ConnectionProgress.RequestSize) {
        let size = hasPlainBytes ? size : .unknown
        state.withLock { state in
            state.progress.answerHasLeft(size) { arbiter_received_bytes(descriptor) }
        }
    }

    /// Whether the head of a request is complete, and its body is not.
    var isReceivingBody: Bool { state.withLock(\.progress.isReceivingBody) }

    /// How many bytes have come that libmicrohttpd has not taken.
    func unreadBytes(overTLS session: UnsafeMutableRawPointer?) -> Int {
        unsafe Int(arbiter_unread_bytes(descriptor)) + (session.map { unsafe arbiter_pending_bytes($0) } ?? 0)
    }

    /// Looks whether a body has stopped: bytes of it wait, but none of them was read since the last look.
    ///
    /// - Parameter unread: how many bytes of it wait.
    /// - Returns: whether this look is the second one in a row that finds it so; false for later ones.
    func isStuck(_ unread: Int) -> Bool {
        guard isReceivingBody, unread > 0 else {
            stuck = nil
            return false
        }
        let looks = stuck?.unread == unread && stuck?.parts == partCount ? (stuck?.looks ?? 0) + 1 : 1
        stuck = (unread, partCount, looks)
        return looks == 2
    }

    /// A part of a body has been read.
    func notePart() { partCount &+= 1 }

    /// Sends an answer without libmicrohttpd, which has nothing to send now, and prevents it from sending more.
    ///
    /// - Parameters:
    ///   - text: the whole answer.
    ///   - session: the session of GnuTLS, if the connection has one.
    func sayLast(_ text: [UInt8], overTLS session: UnsafeMutableRawPointer?) {
        unsafe text.withUnsafeBytes { bytes in
            if let session = unsafe session {
                unsafe arbiter_say_last(session, bytes.baseAddress, bytes.count)
            } else {
                _ = unsafe send(
                    descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
        }
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// libmicrohttpd is about to close the connection.
    func close() {
        state.withLock { $0.isOpen = false }
        peer.end()
    }

    // MARK: From anywhere

    /// Shuts down both directions, which libmicrohttpd notices.
    func shutDown() {
        state.withLock { state in
            if state.isOpen { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Shuts down the connection if its current request takes too long.
    ///
    /// - Returns: whether it does.
    func check(at now: ContinuousClock.Instant, _ limits: ServerLimits) -> Bool {
        state.withLock { state in
            guard state.isOpen,
                state.progress.isOverdue(at: now, limits, receivedBytes: { arbiter_received_bytes(descriptor) })
            else { return false }
            shutdown(descriptor, Int32(SHUT_RDWR))
            return true
        }
    }
}
