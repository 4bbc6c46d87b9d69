internal import ArbiterEngine

/// A body that libmicrohttpd pulls; its connection is suspended while there is nothing to send.
///
/// libmicrohttpd does not watch suspended connections, so the loop watches its peer as long as the stream lasts.
final class MicroHTTPDStream: Sendable {
    private let connection: any StreamConnection
    private let peer: WatchedPeer
    private let source: any StreamSource
    private let state = Guarded(State())

    private struct State {
        var phase = Phase.sending(isWoken: false)
        var isSourceOpen = true
    }

    private enum Phase {
        /// libmicrohttpd sends or asks for more; `isWoken` if the source has woken the stream since it was last read.
        /// Can transition to: `suspended`, `over`.
        case sending(isWoken: Bool)
        /// The source had nothing to send, and the connection is suspended. Can transition to: `sending`.
        case suspended
        /// libmicrohttpd has finished the request. Can transition to: nothing.
        case over
    }

    init(connection: any StreamConnection, peer: WatchedPeer, source: any StreamSource) {
        self.connection = connection
        self.peer = peer
        self.source = source
    }

    // MARK: On the connection's own thread

    /// Called just before the head is sent.
    func begin() {
        connection.limitSending(to: ServerLimits.streamBytes, within: ServerLimits.streamMilliseconds)
        // While there is always something to send, libmicrohttpd itself notices that the client has gone.
        guard source.maySleep else { return }
        peer.watch { [weak self] in self?.peerClosed() }
    }

    /// The next bytes to send.
    ///
    /// - Returns: `nothing` if the connection has been suspended until the source wakes the stream.
    func read(upTo count: Int) -> StreamPiece {
        peer.noteProgress()
        while true {
            let isOpen = state.withLock { state in
                if case .sending = state.phase { state.phase = .sending(isWoken: false) }
                return state.isSourceOpen
            }
            guard isOpen else { return .end }
            let piece = source.read(upTo: count)
            guard case .nothing = piece else { return piece }
            if suspend() { return .nothing }
        }
    }

    /// Runs under the lock, so that no wake is lost: it comes before, and is seen here, or finds the connection
    /// suspended.
    private func suspend() -> Bool {
        state.withLock { state in
            guard case .sending(isWoken: false) = state.phase else { return false }
            connection.suspend()
            state.phase = .suspended
            return true
        }
    }

    /// libmicrohttpd has finished the request.
    func finish() {
        state.withLock { $0.phase = .over }
        peer.forget()
        closeSource()
    }

    // MARK: From anywhere

    func wake() {
        state.withLock { wake(&$0) }
    }

    func cut() {
        state.withLock { state in
            // Until the request is over, the descriptor is not reused for another connection.
            if case .over = state.phase { return }
            connection.shutDown()
            wake(&state)
        }
    }

    private func wake(_ state: inout State) {
        switch state.phase {
        case .sending:
            state.phase = .sending(isWoken: true)
        case .suspended:
            state.phase = .sending(isWoken: true)
            connection.resume()
        case .over:
            break
        }
    }

    /// The client has closed its side: the next read ends the body, and then libmicrohttpd notices the close.
    private func peerClosed() {
        closeSource()
        wake()
    }

    private func closeSource() {
        let wasOpen = state.withLock { state in
            defer { state.isSourceOpen = false }
            return state.isSourceOpen
        }
        if wasOpen { source.close() }
    }
}

/// The parts of a connection that a stream uses.
protocol StreamConnection: Sendable {
    var descriptor: Int32 { get }

    /// Limits the bytes that the system buffers for a client that does not read, and the milliseconds that it waits for
    /// an acknowledgement of sent data.
    func limitSending(to bytes: Int32, within milliseconds: Int32)

    /// To be called only on the connection's own thread, while libmicrohttpd asks for more.
    func suspend()

    /// To be called only once for each suspension.
    func resume()

    /// Shuts down both directions, which libmicrohttpd notices unless the connection is suspended.
    ///
    /// To be called only before the request has been completed.
    func shutDown()
}
