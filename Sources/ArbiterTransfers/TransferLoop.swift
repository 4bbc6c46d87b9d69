#if os(Linux)
    internal import CCurl
    internal import Dispatch
    internal import Foundation
    internal import Synchronization

    /// The thread on which transfers take place, by libcurl.
    ///
    /// What it calls must not take long: the other transfers wait meanwhile.
    package final class TransferLoop: Sendable {
        /// What is told of a transfer: the head, any number of pieces of the body, and the end, which is always the last.
        package enum Event: Sendable {
            case head(TransferHead)
            case bytes([UInt8])
            case ended(TransferFailure?)
        }

        /// The number of a transfer.
        package typealias Number = Int

        private enum Command: Sendable {
            case begin(Number, TransferRequest, @Sendable (Event) -> Void)
            case cancel(Number)
            case fail(Number, reason: String)
            case close
        }

        private struct State {
            var commands: [Command] = []
            var last: Number = 0
            var isClosed = false
        }

        private let state = Mutex(State())
        private let handle: Handle
        /// Left when the thread ends.
        private let end = DispatchGroup()

        /// libcurl's handle.
        ///
        /// It is safe to share, because only the thread uses and frees it. The one exception is `arbiter_loop_wake`, which
        /// any thread may call, and which is called under the lock before the handle is freed.
        @safe private struct Handle: @unchecked Sendable {
            let loop: UnsafeMutablePointer<arbiter_loop>
        }

        package init() {
            guard let loop = unsafe arbiter_loop_new() else { preconditionFailure("libcurl has no memory") }
            handle = unsafe Handle(loop: loop)
            end.enter()
            // The thread ends with `close`.
            Thread.detachNewThread { [self] in run() }
        }

        /// Begins a transfer.
        ///
        /// - Parameters:
        ///   - request: the request.
        ///   - tell: called with what happens, on the thread of the loop; not called any more once it is cancelled.
        /// - Returns: its number.
        @discardableResult
        package func begin(_ request: TransferRequest, tell: @escaping @Sendable (Event) -> Void) -> Number {
            let number = state.withLock { state -> Number? in
                state.last += 1
                return add(.begin(state.last, request, tell), &state) ? state.last : nil
            }
            if number == nil { tell(.ended(TransferFailure(reason: "the client is closed", wasSent: false))) }
            return number ?? 0
        }

        /// Begins a transfer whose answer is wanted as a whole.
        ///
        /// - Parameters:
        ///   - request: the request.
        ///   - completion: called once, on the thread of the loop, unless it is cancelled before.
        /// - Returns: its number.
        @discardableResult
        package func fetch(
            _ request: TransferRequest,
            completion: @escaping @Sendable (Result<TransferAnswer, TransferFailure>) -> Void
        ) -> Number {
            let gathered = Mutex((head: TransferHead?.none, body: [UInt8]()))
            return begin(request) { event in
                switch event {
                case .head(let head): gathered.withLock { $0.head = head }
                case .bytes(let bytes): gathered.withLock { $0.body += bytes }
                case .ended(let failure):
                    let (head, body) = gathered.withLock { ($0.head, $0.body) }
                    if let failure { return completion(.failure(failure)) }
                    guard let head else {
                        return completion(.failure(TransferFailure(reason: "there is no answer", wasSent: true)))
                    }
                    completion(.success(TransferAnswer(head: head, body: body)))
                }
            }
        }

        /// Ends a transfer; nothing is told of it any more once the loop has taken notice.
        package func cancel(_ number: Number) { state.withLock { _ = add(.cancel(number), &$0) } }

        /// Ends a transfer, which has failed then, unless it has ended before.
        package func fail(_ number: Number, because reason: String) {
            state.withLock { _ = add(.fail(number, reason: reason), &$0) }
        }

        /// Ends all transfers, which have failed then, and the thread; returns at once.
        package func close() { state.withLock { _ = add(.close, &$0) } }

        /// Ends all transfers and the thread, and returns once everybody has been told.
        package func closeAndWait() {
            close()
            end.wait()
        }

        /// Wakes the thread under the lock: after `close` the handle may be freed at any time.
        private func add(_ command: Command, _ state: inout State) -> Bool {
            guard !state.isClosed else { return false }
            if case .close = command { state.isClosed = true }
            state.commands.append(command)
            unsafe arbiter_loop_wake(handle.loop)
            return true
        }

        // MARK: - On the thread

        private func run() {
            var transfers: [Number: Transfer] = [:]
            /// When one of them may have been silent for too long.
            var silentAt: ContinuousClock.Instant?
            while carryOut(&transfers, &silentAt) {
                unsafe arbiter_loop_perform(handle.loop)
                while let ready = unsafe arbiter_loop_next_ready(handle.loop) {
                    unsafe transfers[ready.pointee.number]?.takeBytes()
                }
                var result: CInt = 0
                while let finished = unsafe arbiter_loop_next_finished(handle.loop, &result) {
                    unsafe transfers.removeValue(forKey: finished.pointee.number)?.finish(result)
                }
                failSilent(&transfers, &silentAt)
                let rest = silentAt.map { ContinuousClock.now.duration(to: $0) / .milliseconds(1) + 1 }
                unsafe arbiter_loop_wait(handle.loop, CInt(max(0, min(rest ?? Self.longestWait, Self.longestWait))))
            }
            for transfer in transfers.values { transfer.fail("the client is closed") }
            unsafe arbiter_loop_free(handle.loop)
            end.leave()
        }

        /// The longest time without a look around, in milliseconds.
        private static let longestWait = 60_000.0

        /// Ends the transfers that have been silent for too long.
        ///
        /// - Parameters:
        ///   - transfers: all transfers; what has arrived of them has been taken.
        ///   - silentAt: when to look; gets the next time.
        private func failSilent(_ transfers: inout [Number: Transfer], _ silentAt: inout ContinuousClock.Instant?) {
            let now = ContinuousClock.now
            guard let instant = silentAt, instant <= now else { return }
            silentAt = nil
            for (number, transfer) in transfers {
                guard let instant = transfer.isSilentAt else { continue }
                if instant <= now {
                    transfers.removeValue(forKey: number)?.fail("nothing has come for too long")
                } else {
                    silentAt = min(silentAt ?? instant, instant)
                }
            }
        }

        /// Carries out what was asked for.
        ///
        /// - Parameters:
        ///   - transfers: all transfers.
        ///   - silentAt: when one of them may have been silent for too long.
        /// - Returns: false once the loop is closed.
        private func carryOut(
            _ transfers: inout [Number: Transfer], _ silentAt: inout ContinuousClock.Instant?
        ) -> Bool {
            let commands = state.withLock { state in
                defer { state.commands = [] }
                return state.commands
            }
            for command in commands {
                switch command {
                case .begin(let number, let request, let tell):
                    let transfer = unsafe Transfer(request, number, in: handle.loop, tell)
                    transfers[number] = transfer
                    if let instant = transfer?.isSilentAt { silentAt = min(silentAt ?? instant, instant) }
                case .cancel(let number): transfers.removeValue(forKey: number)?.end()
                case .fail(let number, let reason): transfers.removeValue(forKey: number)?.fail(reason)
                case .close: return false
                }
            }
            return true
        }
    }
#endif
