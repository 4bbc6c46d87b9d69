#if os(Linux)
    internal import CCurl

    /// A request on its way, and its answer; on the thread of its loop.
    @safe final class Transfer {
        private let handle: UnsafeMutablePointer<arbiter_transfer>
        /// The path of the Unix socket that it goes over.
        private let socket: String?
        /// Its files are read when it connects.
        private let trust: TransferRequest.Trust
        private let tell: @Sendable (TransferLoop.Event) -> Void
        private var hasTakenHead = false
        private var silence: Silence?
        private var isPaused = false

        /// For how long nothing may come.
        private struct Silence {
            var limit: Duration
            /// When something came last.
            var since = ContinuousClock.now
            let saidBy: @Sendable (TransferHead) -> Duration?
        }

        /// When it has been silent for too long; `nil` if it may be silent.
        var deadline: ContinuousClock.Instant? { isPaused ? nil : silence.map { $0.since + $0.limit } }

        /// Begins a transfer; `nil` if that fails, which is told.
        init?(
            _ request: TransferRequest, _ number: TransferLoop.Number, in loop: UnsafeMutablePointer<arbiter_loop>,
            _ tell: @escaping @Sendable (TransferLoop.Event) -> Void
        ) {
            guard let handle = unsafe arbiter_transfer_new(loop, number, request.url, request.method) else {
                tell(.ended(TransferFailure(reason: "there is no memory for a request", wasSent: false)))
                return nil
            }
            unsafe self.handle = unsafe handle
            self.tell = tell
            (socket, trust) = (request.socket, request.trust)
            let hasBody = request.body.map { body in
                unsafe arbiter_transfer_set_body(handle, body, body.count, request.mayBeSentTwice ? 1 : 0) != 0
            }
            if let socket = request.socket { unsafe arbiter_transfer_set_socket(handle, socket) }
            if let authority = trust.authority { unsafe arbiter_transfer_set_authority(handle, authority) }
            if let identity = trust.identity {
                unsafe arbiter_transfer_set_identity(handle, identity.certificate, identity.key)
            }
            let connecting = max(1, Int(request.connecting / .milliseconds(1)))
            switch request.limit {
            case .whole(let limit):
                unsafe arbiter_transfer_set_limit(handle, connecting, max(1, Int(limit / .milliseconds(1))))
            case .silence(let limit, let saidBy):
                unsafe arbiter_transfer_set_limit(handle, connecting, 0)
                silence = Silence(limit: limit, saidBy: saidBy)
            }
            for field in request.fields { unsafe arbiter_transfer_add_field(handle, field) }
            guard hasBody != false, unsafe arbiter_transfer_begin(handle) == 0 else {
                unsafe arbiter_transfer_free(handle)
                tell(.ended(TransferFailure(reason: "libcurl refuses the request", wasSent: false)))
                return nil
            }
        }

        /// Tells what has arrived.
        func takeBytes() {
            silence?.since = .now
            takeHead()
            let bytes = unsafe Array(UnsafeRawBufferPointer(start: handle.pointee.bytes, count: handle.pointee.count))
            unsafe arbiter_transfer_take(handle)
            if !bytes.isEmpty { tell(.bytes(bytes)) }
        }

        private func takeHead() {
            guard !hasTakenHead else { return }
            hasTakenHead = true
            var fields: [(name: String, value: String)] = []
            var field = unsafe arbiter_transfer_next_field(handle, nil)
            while let found = unsafe field {
                unsafe fields.append((String(cString: found.pointee.name), String(cString: found.pointee.value)))
                unsafe field = unsafe arbiter_transfer_next_field(handle, found)
            }
            let head = TransferHead(status: unsafe arbiter_transfer_status(handle), fields: fields)
            if let said = silence?.saidBy(head) { silence?.limit = said }
            tell(.head(head))
        }

        func pause() {
            isPaused = true
            unsafe arbiter_transfer_pause(handle, 1)
        }

        func resume() {
            isPaused = false
            silence?.since = .now
            unsafe arbiter_transfer_pause(handle, 0)
        }

        /// Tells its end.
        func finish(_ result: CInt) {
            guard result == 0 else { return fail(unsafe String(cString: arbiter_transfer_error(handle, result))) }
            takeBytes()
            tell(.ended(nil))
            end()
        }

        /// Tells that it has been silent for too long.
        func breakSilence() {
            fail("nothing came for \(Heartbeat.text(silence?.limit ?? .zero)) s")
        }

        /// Tells that it has failed.
        func fail(_ reason: String) {
            let wasSent = unsafe arbiter_transfer_was_sent(handle) != 0
            let place = socket.map { TransferFailure.naming($0, in: reason) } ?? reason
            tell(.ended(TransferFailure(reason: place, wasSent: wasSent)))
            end()
        }

        func end() { unsafe arbiter_transfer_end(handle) }
    }
#endif
