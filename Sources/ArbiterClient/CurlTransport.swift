#if os(Linux)
    internal import ArbiterTransfers
    internal import Foundation
    internal import Synchronization

    /// Requests by libcurl.
    ///
    /// URLSession on Linux ends the whole process when a connection is cut within the header of an answer, as it is when the
    /// daemon is killed (swift-corelibs-foundation, `_NativeProtocol.transferCompleted`).
    package final class CurlTransport: WireTransport {
        package let misuse: Refusal?
        package let address: String
        private let place: Place
        private let loop: TransferLoop
        private let silence = StreamSilence()

        /// Where the daemon listens, and how it proves who it is.
        private struct Place: Sendable {
            let url: String
            let socket: String?
            let authority: String?
        }

        /// - Parameters:
        ///   - url: `http://…`, `https://…` or `unix:/path`.
        ///   - authority: the path of a file of certificates that are trusted, instead of the system's.
        package init(_ url: String, authority: String? = nil) {
            misuse = Self.misuse(url: url, schemes: ["http://", "https://", "unix:"])
            let url = url.hasSuffix("/") ? String(url.dropLast()) : url
            address = Self.address(of: url)
            if url.hasPrefix("unix:") {
                place = Place(url: "http://localhost", socket: String(url.dropFirst(5)), authority: authority)
            } else {
                place = Place(url: url, socket: nil, authority: authority)
            }
            loop = TransferLoop()
        }

        deinit { loop.close() }

        package func send(_ request: WireRequest) async throws -> WireAnswer {
            let sent = ContinuousClock.now
            let exchange = SingleResult<Result<TransferAnswer, TransferFailure>>()
            let number = loop.fetch(made(request, limit: .whole(request.timeout))) { exchange.finish(.success($0)) }
            let ending = try await withTaskCancellationHandler {
                try await exchange.value()
            } onCancel: {
                loop.cancel(number)
                exchange.finish(.failure(CancellationError()))
            }
            switch ending {
            case .failure(let failure): throw ClientError.unreachable(failure.reason)
            case .success(let answer):
                let (head, body) = (answer.head, answer.body)
                // To libcurl an answer that is cut within its header is whole; the daemon's have a body.
                let isEmpty = head.status == 204 && body.isEmpty
                return WireAnswer(
                    status: head.status,
                    document: isEmpty ? .null : try WireDocument.read(body, named: "the answer"),
                    retryAfter: .seconds(head.value(of: "retry-after").flatMap { Int($0) } ?? 0),
                    date: head.value(of: "date"), tag: head.value(of: "etag"), link: head.value(of: "link"),
                    sent: sent)
            }
        }

        package func lines(of request: WireRequest) -> AsyncThrowingStream<String, any Error> {
            let (stream, sink) = LineSink.makeStream(limit: request.lineLimit)
            let lines = LineReader()
            let limit = TransferRequest.Limit.silence(silence.limit(of: request)) { [silence] head in
                head.status == 200 ? silence.take(head.value(of: Heartbeat.field)) : nil
            }
            let number = loop.begin(made(request, limit: limit)) { event in
                switch event {
                case .head(let head): lines.begin(head, of: request)
                case .bytes(let bytes): sink.add(lines.take(bytes))
                case .ended(let failure): sink.end(lines.ending(failure))
                }
            }
            sink.whenOver { [loop] in loop.cancel(number) }
            return stream
        }

        private func made(_ request: WireRequest, limit: TransferRequest.Limit) -> TransferRequest {
            var made = TransferRequest(place.url + request.path, limit: limit)
            made.method = request.method
            made.fields = request.headers.map { "\($0): \($1)" }
            made.socket = place.socket
            made.trust.authority = place.authority
            if let body = request.body, let bytes = try? JSONEncoder().encode(body) {
                made.fields.append("Content-Type: application/json")
                made.body = [UInt8](bytes)
            }
            return made
        }

        /// Divides the answer of a stream into lines, and keeps the body of a refusal.
        private final class LineReader: Sendable {
            private let state = Mutex((status: 0, isStream: true, rest: [UInt8]()))

            func begin(_ head: TransferHead, of request: WireRequest) {
                let type = head.value(of: "content-type") ?? ""
                let isStream = request.headers["Accept"].map { type.hasPrefix($0) } ?? true
                state.withLock { ($0.status, $0.isStream) = (head.status, isStream) }
            }

            /// The lines that have ended.
            func take(_ bytes: [UInt8]) -> [String] {
                state.withLock { state in
                    state.rest += bytes
                    guard state.status == 200, state.isStream,
                        let end = state.rest.lastIndex(of: UInt8(ascii: "\n"))
                    else { return [] }
                    let lines = state.rest[..<end].split(
                        separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                    defer { state.rest.removeSubrange(...end) }
                    return lines.map { String(decoding: $0, as: UTF8.self) }
                }
            }

            /// What a stream ends with; `nil` if it has ended in good order.
            func ending(_ failure: TransferFailure?) -> ClientError? {
                let (status, isStream, rest) = state.withLock { ($0.status, $0.isStream, $0.rest) }
                if let failure { return .unreachable(failure.reason) }
                guard status != 200 else { return isStream ? nil : .unreachable("the answer is no stream of events") }
                guard status >= 400 else { return .unreachable("the answer is no stream") }
                do {
                    return .refused(Refusal(status: status, try WireDocument.read(rest, named: "the refusal")))
                } catch {
                    return error
                }
            }
        }
    }
#endif
