#if os(Linux)
    internal import Foundation

    /// Requests by libcurl.
    ///
    /// URLSession on Linux ends the whole process when a connection is cut within the header of an answer, as it is when the
    /// daemon is killed (swift-corelibs-foundation, `_NativeProtocol.transferCompleted`).
    package final class CurlTransport: WireTransport {
        package let misuse: Refusal?
        private let address: Address
        private let loop: CurlLoop

        /// Where the daemon listens, and how it proves who it is.
        private struct Address: Sendable {
            let url: String
            let socket: String?
            let authority: String?
        }

        /// - Parameters:
        ///   - url: `http://…`, `https://…` or `unix:/path`.
        ///   - authority: the path of a file of certificates that are trusted, instead of the system's.
        package init(_ url: String, authority: String? = nil) {
            misuse = Self.misuse(url: url, schemes: ["http://", "https://", "unix:"])
            if url.hasPrefix("unix:") {
                address = Address(url: "http://localhost", socket: String(url.dropFirst(5)), authority: authority)
            } else {
                address = Address(
                    url: url.hasSuffix("/") ? String(url.dropLast()) : url, socket: nil, authority: authority)
            }
            loop = CurlLoop()
        }

        deinit { loop.close() }

        package func send(_ request: WireRequest) async throws -> WireAnswer {
            let sent = ContinuousClock.now
            let exchange = SingleResult<CurlLoop.Finish>()
            let number = loop.begin(made(request, isStream: false)) { exchange.finish(.success($0)) }
            let ending = try await withTaskCancellationHandler {
                try await exchange.value()
            } onCancel: {
                loop.cancel(number)
                exchange.finish(.failure(CancellationError()))
            }
            if let failure = ending.failure {
                throw ClientError.unreachable("\(request.method) \(request.path): \(failure)")
            }
            return WireAnswer(
                status: ending.status, document: ending.document ?? .null, retryAfter: .seconds(ending.retryAfter),
                date: ending.date, sent: sent)
        }

        package func lines(of request: WireRequest) -> AsyncThrowingStream<String, any Error> {
            let (stream, continuation) = AsyncThrowingStream<String, any Error>.makeStream()
            let number = loop.begin(made(request, isStream: true)) {
                continuation.yield($0)
            } ended: { ending in
                if ending.status == 200, ending.failure == nil { return continuation.finish() }
                let refusal = ending.document.map { Refusal(status: ending.status, $0) }
                continuation.finish(
                    throwing: refusal.flatMap { ending.status >= 400 ? ClientError.refused($0) : nil }
                        ?? .unreachable(ending.failure ?? "the answer is no stream"))
            }
            continuation.onTermination = { [loop] _ in loop.cancel(number) }
            return stream
        }

        private func made(_ request: WireRequest, isStream: Bool) -> CurlLoop.Request {
            var fields = request.headers.map { "\($0): \($1)" }
            if request.body != nil { fields.append("Content-Type: application/json") }
            return CurlLoop.Request(
                url: address.url + request.path, socket: address.socket, authority: address.authority,
                method: request.method,
                body: request.body.flatMap { try? JSONEncoder().encode($0) }.map {
                    String(decoding: $0, as: UTF8.self)
                },
                fields: fields, isStream: isStream, seconds: request.timeout.inSeconds)
        }
    }
#endif
