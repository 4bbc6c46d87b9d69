#if os(Linux)
    internal import CCurl

    /// A request on its way, and its answer; on the thread of its loop.
    @safe final class Transfer {
        private let handle: UnsafeMutablePointer<arbiter_transfer>
        /// The path of the Unix socket that it goes over.
        private let socket: String?
        private let tell: @Sendable (TransferLoop.Event) -> Void
        private var hasTakenHead = false
        /// How long it may be silent, if that is limited.
        private let silence: Duration?
        /// When it was heard last, or has begun.
        private var heardAt = ContinuousClock.now

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
            socket = request.socket
            let hasBody = request.body.map { body in
                unsafe arbiter_transfer_set_body(handle, body, body.count, request.mayBeSentTwice ? 1 : 0) != 0
            }
            if let socket = request.socket { unsafe arbiter_transfer_set_socket(handle, socket) }
            if let authority = request.trust.authority { unsafe arbiter_transfer_set_authority(handle, authority) }
            if let identity = request.trust.identity {
                unsafe arbiter_transfer_set_identity(handle, identity.certificate, identity.key)
            }
            if case .silence(let limit) = request.limit { silence = limit } else { silence = nil }
            let connecting = max(1, Int(request.connecting / .milliseconds(1)))
            switch request.limit {
            case .whole(let limit):
                unsafe arbiter_transfer_set_limit(handle, connecting, max(1, Int(limit / .milliseconds(1))))
            case .silence: unsafe arbiter_transfer_set_limit(handle, connecting, 0)
            }
            for field in request.fields { unsafe arbiter_transfer_add_field(handle, field) }
            guard hasBody != false, unsafe arbiter_transfer_begin(handle) == 0 else {
                unsafe arbiter_transfer_free(handle)
                tell(.ended(TransferFailure(reason: "libcurl refuses the request", wasSent: false)))
                return nil
            }
        }

        /// When it has been silent for too long, unless it is heard before; `nil` if its silence has no limit.
        var isSilentAt: ContinuousClock.Instant? { silence.map { heardAt + $0 } }

        /// Tells what has arrived.
        func takeBytes() {
            heardAt = .now
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
            tell(.head(TransferHead(status: unsafe arbiter_transfer_status(handle), fields: fields)))
        }

        /// Tells its end.
        func finish(_ result: CInt) {
            guard result == 0 else { return fail(unsafe String(cString: arbiter_transfer_error(handle, result))) }
            takeBytes()
            tell(.ended(nil))
            end()
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
