internal import Synchronization

/// Gives the lines of a stream to its reader as they arrive.
///
/// No line is left out. If the reader is too slow, the stream breaks as if its connection had been cut, so that events are resumed
/// after the last one that was read.
final class LineSink: Sendable {
    private let limit: Int
    private let continuation: AsyncThrowingStream<String, any Error>.Continuation
    private let isOver = Mutex(false)

    private init(_ limit: Int, _ continuation: AsyncThrowingStream<String, any Error>.Continuation) {
        (self.limit, self.continuation) = (limit, continuation)
    }

    /// Makes a stream that nobody reads yet.
    ///
    /// - Parameter limit: how many lines may wait for the reader.
    /// - Returns: the stream, and what fills it.
    static func makeStream(limit: Int) -> (stream: AsyncThrowingStream<String, any Error>, sink: LineSink) {
        let (stream, continuation) = AsyncThrowingStream<String, any Error>.makeStream(
            bufferingPolicy: .bufferingOldest(limit))
        return (stream, LineSink(limit, continuation))
    }

    /// Adds lines; if there is no room for one, the stream ends with those before it.
    func add(_ lines: [String]) {
        for line in lines {
            guard case .dropped = continuation.yield(line) else { continue }
            return end(.unreachable("the stream is cut off, because \(limit) of its lines were not read yet"))
        }
    }

    /// Ends the stream, in good order or with an error; what ends it first counts.
    func end(_ error: ClientError? = nil) {
        isOver.withLock { $0 = true }
        continuation.finish(throwing: error)
    }

    /// Has something done when the stream has ended or nobody reads it any more; it may be done twice.
    func whenOver(_ body: @escaping @Sendable () -> Void) {
        continuation.onTermination = { _ in body() }
        // It may have ended before.
        if isOver.withLock({ $0 }) { body() }
    }
}
