internal import ArbiterTransfers
internal import Synchronization

/// For how long streams of events may be silent, by what the daemon has said last.
final class StreamSilence: Sendable {
    private let said = Mutex(Duration?.none)

    /// How long the head of the answer may take: a daemon that is there answers about as soon as a comment would come.
    func limit(of request: WireRequest) -> Duration {
        guard request.headers["Accept"] == "text/event-stream", let said = said.withLock({ $0 }) else {
            return request.timeout
        }
        return min(request.timeout, max(said, WireTimes.margin))
    }

    /// Takes in what the head of a stream says.
    ///
    /// - Parameter text: the value of `Heartbeat.field`; `nil` if there is none.
    /// - Returns: for how long the stream may be silent.
    func take(_ text: String?) -> Duration {
        let silence = Heartbeat.silence(saidBy: text)
        said.withLock { $0 = silence }
        return silence ?? WireTimes.silence
    }
}
