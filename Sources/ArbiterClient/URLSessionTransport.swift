#if !os(Linux)
    internal import Foundation
    internal import Synchronization

    /// Requests by `URLSession`, on Apple's platforms.
    final class URLSessionTransport: WireTransport {
        let misuse: Refusal?
        private let url: URL
        private let session: URLSession
        private let streams: StreamDelegate

        /// Every transition that is held parks a request, and a stream takes a connection too.
        private static let connections = 1_000

        init(_ url: URL) {
            self.url = url
            misuse = Self.misuse(url: url.absoluteString, schemes: ["http://", "https://"])
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpMaximumConnectionsPerHost = Self.connections
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
            streams = StreamDelegate()
            session = URLSession(configuration: configuration, delegate: streams, delegateQueue: nil)
        }

        deinit { session.invalidateAndCancel() }

        func send(_ request: WireRequest) async throws -> WireAnswer {
            let sent = ContinuousClock.now
            do {
                let (data, response) = try await session.data(for: urlRequest(request))
                return try Self.answer(response, data, sent)
            } catch let error as ClientError {
                throw error
            } catch {
                try Task.checkCancellation()
                throw ClientError.unreachable("\(request.method) \(request.path): \(error.localizedDescription)")
            }
        }

        func lines(of request: WireRequest) -> AsyncThrowingStream<String, any Error> {
            let (stream, sink) = LineSink.makeStream(limit: request.lineLimit)
            let task = session.dataTask(with: urlRequest(request))
            streams.add(task, sink)
            sink.whenOver { task.cancel() }
            task.resume()
            return stream
        }

        private func urlRequest(_ request: WireRequest) -> URLRequest {
            var text = url.absoluteString
            if text.hasSuffix("/") { text.removeLast() }
            guard let target = URL(string: text + request.path) else {
                preconditionFailure("\(request.path) is no path")
            }
            var made = URLRequest(url: target, timeoutInterval: request.timeout.inSeconds)
            made.httpMethod = request.method
            for (name, value) in request.headers { made.setValue(value, forHTTPHeaderField: name) }
            if let body = request.body {
                made.setValue("application/json", forHTTPHeaderField: "Content-Type")
                made.httpBody = try? JSONEncoder().encode(body)
            }
            return made
        }

        /// - Throws: `URLError` if the answer is not one of the daemon's; `ClientError` if its document cannot be read.
        fileprivate static func answer(
            _ response: URLResponse, _ data: Data, _ sent: ContinuousClock.Instant
        ) throws -> WireAnswer {
            guard let http = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
            return WireAnswer(
                status: http.statusCode,
                document: data.isEmpty ? .null : try WireDocument.read(data, named: "the answer"),
                retryAfter: .seconds(http.value(forHTTPHeaderField: "Retry-After").flatMap { Double($0) } ?? 0),
                date: http.value(forHTTPHeaderField: "Date"), tag: http.value(forHTTPHeaderField: "ETag"), sent: sent)
        }
    }

    /// Gives the lines of streams to their readers as they arrive.
    private final class StreamDelegate: NSObject, URLSessionDataDelegate {
        private let readers = Mutex<[Int: Reader]>([:])

        private struct Reader {
            let sink: LineSink
            var response: URLResponse?
            var rest = Data()

            var isRefused: Bool { (response as? HTTPURLResponse)?.statusCode != 200 }
        }

        func add(_ task: URLSessionTask, _ sink: LineSink) {
            readers.withLock { $0[task.taskIdentifier] = Reader(sink: sink) }
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
        ) {
            readers.withLock { $0[dataTask.taskIdentifier]?.response = response }
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            readers.withLock { readers in
                guard var reader = readers[dataTask.taskIdentifier] else { return }
                reader.rest.append(data)
                while !reader.isRefused, let end = reader.rest.firstIndex(of: UInt8(ascii: "\n")) {
                    reader.sink.add([String(decoding: reader.rest[reader.rest.startIndex..<end], as: UTF8.self)])
                    reader.rest.removeSubrange(reader.rest.startIndex...end)
                }
                readers[dataTask.taskIdentifier] = reader
            }
        }

        private func refusal(_ response: URLResponse, _ body: Data) -> ClientError {
            do {
                let answer = try URLSessionTransport.answer(response, body, .now)
                return .refused(Refusal(status: answer.status, answer.document))
            } catch {
                return error as? ClientError ?? .unreachable("the refusal is no answer of the daemon")
            }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            guard let reader = readers.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
            if let response = reader.response, reader.isRefused {
                reader.sink.end(refusal(response, reader.rest))
            } else if let error {
                reader.sink.end(.unreachable(error.localizedDescription))
            } else {
                reader.sink.end()
            }
        }
    }
#endif
