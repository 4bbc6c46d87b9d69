#if os(Linux)
    internal import CCurl
    internal import Foundation
    internal import Synchronization

    /// The thread on which all transfers of a client take place.
    final class CurlLoop: Sendable {
        struct Request: Sendable {
            let url: String
            let socket: String?
            let authority: String?
            let method: String
            let body: String?
            let fields: [String]
            let isStream: Bool
            /// How long the answer may take, or how long a stream may be silent.
            let seconds: Double
        }

        struct Finish: Sendable {
            var status = 0
            var retryAfter = 0
            /// The field `Date`.
            var date: String?
            /// The body, if there is one.
            var document: JSONValue?
            /// Why there is no answer.
            var failure: String?
        }

        private enum Command: Sendable {
            case begin(Int, Request, line: @Sendable (String) -> Void, ended: @Sendable (Finish) -> Void)
            case cancel(Int)
            case close
        }

        private struct State {
            var commands: [Command] = []
            var last = 0
            var isClosed = false
        }

        private let state = Mutex(State())
        private let multi: Multi

        /// libcurl's handle.
        ///
        /// It is safe to share, because only the thread uses and frees it. The one exception is
        /// `curl_multi_wakeup`, which libcurl allows on any thread, and which is called under the lock before it is freed.
        @safe private struct Multi: @unchecked Sendable {
            let handle: UnsafeMutableRawPointer
        }

        init() {
            guard let handle = unsafe arbiter_multi_new() else { preconditionFailure("libcurl has no memory") }
            multi = unsafe Multi(handle: handle)
            // The thread ends with `close`.
            Thread.detachNewThread { [self] in run() }
        }

        /// Begins a transfer.
        ///
        /// - Returns: its number.
        func begin(
            _ request: Request, line: @escaping @Sendable (String) -> Void = { _ in },
            ended: @escaping @Sendable (Finish) -> Void
        ) -> Int {
            state.withLock { state in
                state.last += 1
                add(.begin(state.last, request, line: line, ended: ended), &state)
                return state.last
            }
        }

        func cancel(_ number: Int) { state.withLock { add(.cancel(number), &$0) } }

        func close() { state.withLock { add(.close, &$0) } }

        /// Wakes the thread under the lock: after `close` the handle may be freed at any time.
        private func add(_ command: Command, _ state: inout State) {
            guard !state.isClosed else { return }
            if case .close = command { state.isClosed = true }
            state.commands.append(command)
            unsafe _ = curl_multi_wakeup(multi.handle)
        }

        // MARK: - On the thread

        private func run() {
            var transfers: [Int: Transfer] = [:]
            while true {
                for command in state.withLock({ state in
                    defer { state.commands = [] }
                    return state.commands
                }) {
                    switch command {
                    case .begin(let number, let request, let line, let ended):
                        transfers[number] = begin(request, line, ended)
                    case .cancel(let number):
                        if let transfer = transfers.removeValue(forKey: number) {
                            unsafe transfer.end(multi.handle)
                        }
                    case .close:
                        for transfer in transfers.values {
                            transfer.ended(Finish(failure: "the client is closed"))
                            unsafe transfer.end(multi.handle)
                        }
                        unsafe curl_multi_cleanup(multi.handle)
                        return
                    }
                }
                unsafe arbiter_multi_perform(multi.handle)
                for transfer in transfers.values { transfer.takeLines() }
                var result: CInt = 0
                while let finished = unsafe arbiter_multi_next_finished(multi.handle, &result) {
                    guard let (number, transfer) = transfers.first(where: { unsafe $0.value.isThis(finished) })
                    else {
                        continue
                    }
                    transfers[number] = nil
                    transfer.ended(transfer.ending(result))
                    unsafe transfer.end(multi.handle)
                }
                unsafe arbiter_multi_wait(multi.handle)
            }
        }

        private func begin(
            _ request: Request, _ line: @escaping @Sendable (String) -> Void,
            _ ended: @escaping @Sendable (Finish) -> Void
        ) -> Transfer? {
            let made = unsafe arbiter_transfer_new(
                request.url, request.socket, request.authority, request.method, request.body,
                request.isStream ? 0 : max(1, CLong(request.seconds * 1000)), CLong(request.seconds))
            guard let handle = unsafe made else {
                ended(Finish(failure: "there is no memory for a request"))
                return nil
            }
            for field in request.fields { unsafe arbiter_transfer_add_field(handle, field) }
            guard unsafe arbiter_transfer_begin(handle, multi.handle) == 0 else {
                unsafe arbiter_transfer_free(handle)
                ended(Finish(failure: "libcurl refuses the request"))
                return nil
            }
            return unsafe Transfer(handle: handle, isStream: request.isStream, line: line, ended: ended)
        }

        @safe private struct Transfer {
            let handle: UnsafeMutablePointer<arbiter_transfer>
            let isStream: Bool
            let line: @Sendable (String) -> Void
            let ended: @Sendable (Finish) -> Void
            private let rest = Rest()

            /// The begin of a line whose end has not arrived.
            private final class Rest { var bytes: [UInt8] = [] }

            init(
                handle: UnsafeMutablePointer<arbiter_transfer>, isStream: Bool,
                line: @escaping @Sendable (String) -> Void, ended: @escaping @Sendable (Finish) -> Void
            ) {
                unsafe self.handle = unsafe handle
                (self.isStream, self.line, self.ended) = (isStream, line, ended)
            }

            func isThis(_ other: UnsafeMutablePointer<arbiter_transfer>) -> Bool { unsafe handle == other }

            func end(_ multi: UnsafeMutableRawPointer) { unsafe arbiter_transfer_end(handle, multi) }

            private var bytes: [UInt8] {
                unsafe Array(UnsafeRawBufferPointer(start: handle.pointee.bytes, count: handle.pointee.count))
            }

            /// Tells the lines of a stream that have arrived.
            func takeLines() {
                guard isStream, unsafe handle.pointee.count > 0, unsafe arbiter_transfer_status(handle) == 200 else {
                    return
                }
                rest.bytes += bytes
                unsafe arbiter_transfer_take(handle)
                while let end = rest.bytes.firstIndex(of: UInt8(ascii: "\n")) {
                    line(String(decoding: rest.bytes[..<end], as: UTF8.self))
                    rest.bytes.removeSubrange(...end)
                }
            }

            func ending(_ result: CInt) -> Finish {
                guard result == 0 else {
                    return unsafe Finish(failure: String(cString: arbiter_transfer_error(handle, result)))
                }
                let (status, bytes) = (unsafe arbiter_transfer_status(handle), bytes)
                if isStream, status == 200 { return Finish(status: status) }
                // To libcurl an answer that is cut within its header is whole; the daemon's have a body.
                guard let document = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)) else {
                    return Finish(status: status, failure: status == 204 ? nil : "the answer is cut off")
                }
                let date = unsafe arbiter_transfer_date(handle).map { unsafe String(cString: $0) }
                return unsafe Finish(
                    status: status, retryAfter: arbiter_transfer_retry_after(handle), date: date, document: document)
            }
        }
    }
#endif
