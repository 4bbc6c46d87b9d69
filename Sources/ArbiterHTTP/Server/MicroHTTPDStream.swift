internal import ArbiterEngine

/// A body on its way out of libmicrohttpd, which pulls it and is suspended while there is nothing to send.
///
/// libmicrohttpd does not look at a suspended connection, so the socket is watched for as long as the stream lasts.
final class MicroStream: Sendable {
    private let connection: any StreamConnection
    private let watcher: PeerWatcher
    private let source: any StreamSource
    private let state = Guarded(State())

    private struct State {
        var phase = Phase.sending(isWoken: false)
        var watch: UInt64?
        var isSourceOpen = true
    }

    private enum Phase {
        /// libmicrohttpd sends or asks for more; `isWoken` if there has been a wake since it last asked.
        /// Can transition to: `suspended`, `over`.
        case sending(isWoken: Bool)
        /// The source had nothing, and the connection is suspended. Can transition to: `sending`.
        case suspended
        /// libmicrohttpd is done with it. Can transition to: nothing.
        case over
    }

    init(connection: any StreamConnection, watcher: PeerWatcher, source: any StreamSource) {
        self.connection = connection
        self.watcher = watcher
        self.source = source
    }

    // MARK: On the connection's own thread

    /// The head is about to leave.
    func begin() {
        connection.limitSending(to: ServerLimits.streamBytes, within: ServerLimits.streamMilliseconds)
        // libmicrohttpd itself sees a client go as long as there is something to send to it.
        guard source.maySleep else { return }
        let watch = watcher.watch(connection.descriptor) { [weak self] in self?.peerClosed() }
        state.withLock { $0.watch = watch }
    }

    /// Takes what is to be sent next.
    ///
    /// - Returns: `nothing` if the connection has been suspended until there is more.
    func read(upTo count: Int) -> StreamPiece {
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

    /// Under the lock, so that whoever wakes it finds it suspended, or is seen here.
    private func suspend() -> Bool {
        state.withLock { state in
            guard case .sending(isWoken: false) = state.phase else { return false }
            connection.suspend()
            state.phase = .suspended
            return true
        }
    }

    /// libmicrohttpd is done with it.
    func finish() {
        let watch = state.withLock { state in
            state.phase = .over
            return state.watch.take()
        }
        if let watch { watcher.forget(connection.descriptor, key: watch) }
        closeSource()
    }

    // MARK: From anywhere

    func wake() {
        state.withLock { wake(&$0) }
    }

    func cut() {
        state.withLock { state in
            // Before it is over the descriptor cannot be another's.
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

    /// The client has closed its side: what is read next is the end, and lets libmicrohttpd see the rest.
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

/// What a stream asks of its connection.
protocol StreamConnection: Sendable {
    var descriptor: Int32 { get }

    /// Bounds how many bytes the system takes for a client that does not read, and for how many milliseconds it tries to
    /// reach one that is silent.
    func limitSending(to bytes: Int32, within milliseconds: Int32)

    /// Only on the connection's own thread, while it is read for.
    func suspend()

    /// Only while it is suspended, and once.
    func resume()

    /// Ends both directions at once, which libmicrohttpd sees unless it is suspended.
    ///
    /// Only before the request is completed.
    func shutDown()
}
