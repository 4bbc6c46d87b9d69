#if !os(Linux)
    internal import ArbiterTransfers
    internal import Foundation
    internal import Synchronization

    /// Requests by `URLSession`, on Apple's platforms.
    final class URLSessionTransport: WireTransport {
        let misuse: Refusal?
        var address: String { Self.address(of: url.absoluteString) }
        private let url: URL
        private let session: URLSession
        private let streams: StreamDelegate

        /// Every transition that is held parks a request, and a stream takes a connection too.
        private static let connections = 1_000
        private static let unlimited = Duration.seconds(86_400)

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
                throw ClientError.unreachable(error.localizedDescription)
            }
        }

        func lines(of request: WireRequest) -> AsyncThrowingStream<String, any Error> {
            let (stream, sink) = LineSink.makeStream(limit: request.lineLimit)
            let limit = streams.silence.limit(of: request)
            var request = request
            // How long the stream may be silent is said by its own head.
            request.timeout = Self.unlimited
            let task = session.dataTask(with: urlRequest(request))
            streams.add(task, sink, limit: limit)
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
                date: http.value(forHTTPHeaderField: "Date"), tag: http.value(forHTTPHeaderField: "ETag"),
                link: http.value(forHTTPHeaderField: "Link"), sent: sent)
        }
    }

    /// Gives the lines of streams to their readers as they arrive.
    private final class StreamDelegate: NSObject, URLSessionDataDelegate {
        let silence = StreamSilence()
        private let readers = Mutex<[Int: Reader]>([:])

        private struct Reader {
            let sink: LineSink
            var response: URLResponse?
            var rest = Data()
            /// For how long nothing may come.
            var limit: Duration
            /// Ends the stream when that is over.
            var watch: Task<Void, Never>?

            var isRefused: Bool { (response as? HTTPURLResponse)?.statusCode != 200 || !isStream }
            /// Whether the answer is of the type that was asked for.
            var isStream = true

            /// Counts the silence from now on.
            mutating func listen(to task: URLSessionDataTask) {
                watch?.cancel()
                watch = Task { [limit] in
                    do { try await Task.sleep(for: limit) } catch { return }
                    task.cancel()
                }
            }
        }

        func add(_ task: URLSessionDataTask, _ sink: LineSink, limit: Duration) {
            var reader = Reader(sink: sink, limit: limit)
            reader.listen(to: task)
            readers.withLock { $0[task.taskIdentifier] = reader }
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
        ) {
            readers.withLock { readers in
                guard var reader = readers[dataTask.taskIdentifier] else { return }
                reader.response = response
                if let accept = dataTask.originalRequest?.value(forHTTPHeaderField: "Accept") {
                    let type = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Type")
                    reader.isStream = type?.hasPrefix(accept) ?? false
                }
                if let http = response as? HTTPURLResponse, http.statusCode == 200 {
                    reader.limit = silence.take(http.value(forHTTPHeaderField: Heartbeat.field))
                }
                reader.listen(to: dataTask)
                readers[dataTask.taskIdentifier] = reader
            }
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            readers.withLock { readers in
                guard var reader = readers[dataTask.taskIdentifier] else { return }
                reader.rest.append(data)
                reader.listen(to: dataTask)
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
            reader.watch?.cancel()
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
