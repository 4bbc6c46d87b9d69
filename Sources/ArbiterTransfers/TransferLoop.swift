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
            case pause(Number)
            case resume(Number)
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

        /// Receives nothing more of a transfer until `resume`, so that its sender has to wait; what has arrived is still told.
        package func pause(_ number: Number) { state.withLock { _ = add(.pause(number), &$0) } }

        /// Goes on with a transfer that was paused.
        package func resume(_ number: Number) { state.withLock { _ = add(.resume(number), &$0) } }

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
            var nextLook = ContinuousClock.now
            while carryOut(&transfers, &nextLook) {
                unsafe arbiter_loop_perform(handle.loop)
                while let ready = unsafe arbiter_loop_next_ready(handle.loop) {
                    unsafe transfers[ready.pointee.number]?.takeBytes()
                }
                var result: CInt = 0
                while let finished = unsafe arbiter_loop_next_finished(handle.loop, &result) {
                    unsafe transfers.removeValue(forKey: finished.pointee.number)?.finish(result)
                }
                if nextLook <= .now { nextLook = endSilent(&transfers) }
                unsafe arbiter_loop_wait(handle.loop, CInt(max(1, (nextLook - .now) / .milliseconds(1))))
            }
            for transfer in transfers.values { transfer.fail("the client is closed") }
            unsafe arbiter_loop_free(handle.loop)
            end.leave()
        }

        /// The longest time between two looks for transfers that are silent, while there are some that may not be.
        private static let longestLook = Duration.seconds(1)
        /// The same while there are none.
        private static let idle = Duration.seconds(60)
        /// The shortest time between two looks, of which each takes longer the more transfers there are.
        private static let shortestLook = Duration.milliseconds(100)

        /// Ends the transfers that have been silent for too long.
        ///
        /// - Returns: when to look again.
        private func endSilent(_ transfers: inout [Number: Transfer]) -> ContinuousClock.Instant {
            let now = ContinuousClock.now
            var next: ContinuousClock.Instant?
            for (number, transfer) in transfers {
                guard let deadline = transfer.deadline else { continue }
                if deadline <= now {
                    transfers.removeValue(forKey: number)?.breakSilence()
                } else {
                    next = min(next ?? deadline, deadline)
                }
            }
            guard let next else { return now + Self.idle }
            return max(now + Self.shortestLook, min(next, now + Self.longestLook))
        }

        /// Carries out what was asked for.
        ///
        /// - Returns: false once the loop is closed.
        private func carryOut(
            _ transfers: inout [Number: Transfer], _ nextLook: inout ContinuousClock.Instant
        ) -> Bool {
            let commands = state.withLock { state in
                defer { state.commands = [] }
                return state.commands
            }
            for command in commands {
                switch command {
                case .begin(let number, let request, let tell):
                    transfers[number] = unsafe Transfer(request, number, in: handle.loop, tell)
                    if case .silence = request.limit { nextLook = min(nextLook, .now + Self.longestLook) }
                case .pause(let number): transfers[number]?.pause()
                case .resume(let number):
                    transfers[number]?.resume()
                    nextLook = min(nextLook, .now + Self.longestLook)
                case .cancel(let number): transfers.removeValue(forKey: number)?.end()
                case .fail(let number, let reason): transfers.removeValue(forKey: number)?.fail(reason)
                case .close: return false
                }
            }
            return true
        }
    }
#endif
