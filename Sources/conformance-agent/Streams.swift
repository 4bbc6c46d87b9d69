import ArbiterClient

/// How many events, or commands, may wait; the scenarios need fewer.
let waitingLimit = 10_000

/// The streams of events, each read by the commands that ask for its next one, in turn.
actor Streams {
    private var streams: [String: AsyncThrowingStream<ArbiterEvent, any Error>.Iterator] = [:]

    /// Follows from now on: the events are gathered until they are asked for.
    func follow(_ name: String, _ events: ArbiterEvents) {
        let (stream, continuation) = AsyncThrowingStream<ArbiterEvent, any Error>.makeStream(
            bufferingPolicy: .bufferingOldest(waitingLimit))
        streams[name] = stream.makeAsyncIterator()
        Task {
            do {
                for try await event in events {
                    if case .dropped = continuation.yield(event) {
                        preconditionFailure("too many events of \(name) wait")
                    }
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
    }

    func next(of name: String, named wanted: String) async throws -> ArbiterEvent? {
        guard var iterator = streams[name] else { return nil }
        defer { streams[name] = iterator }
        while let event = try await iterator.next(isolation: #isolation) {
            if event.name == wanted { return event }
        }
        return nil
    }
}
