package import ArbiterCore

/// A stream of server-sent events with its own connection.
package final class WireEventStream {
    package let client: WireClient
    /// The head of the answer.
    package let head: WireResponse
    /// The text received so far.
    package private(set) var text = EventText()
    /// Whether the stream has ended normally.
    package private(set) var hasEnded = false

    /// Requests the events of a scene, and reads the head of the answer.
    ///
    /// - Throws: `WireError`.
    package convenience init(
        port: UInt16, scene: SceneName = .main, query: String = "", headers: [String] = []
    ) throws(WireError) {
        try self.init(port: port, path: "/scenes/\(scene)/events\(query)", headers: headers)
    }

    /// Requests a stream of events, and reads the head of the answer.
    ///
    /// - Throws: `WireError`.
    package init(port: UInt16, path: String, headers: [String] = []) throws(WireError) {
        client = try WireClient(port: port)
        try client.send("GET", path, headers: headers)
        head = try client.receiveHead()
    }

    /// Reads until the stream has told an id.
    ///
    /// - Returns: the last one; `nil` if the stream has ended without.
    /// - Throws: `WireError`.
    package func receiveID() throws(WireError) -> String? {
        while text.lastID == nil, !hasEnded { try receiveChunk() }
        return text.lastID
    }

    /// Reads until this many events have arrived, or the stream has ended.
    ///
    /// - Throws: `WireError`.
    package func receive(_ count: Int = 1) throws(WireError) -> [ReceivedEvent] {
        while text.events.count < count, !hasEnded { try receiveChunk() }
        return text.takeEvents()
    }

    /// Reads until there is an event that has not been taken, and takes the oldest.
    ///
    /// - Returns: the event; `nil` if the stream has ended.
    /// - Throws: `WireError`.
    package func next(within limit: Duration = WireClient.patience) throws(WireError) -> ReceivedEvent? {
        let deadline = ContinuousClock.now + limit
        while text.events.isEmpty, !hasEnded { try receiveChunk(within: deadline - .now) }
        return text.takeFirstEvent()
    }

    /// Reads until there have been this many comments, including that of the first line.
    ///
    /// - Throws: `WireError`.
    package func receiveComments(_ count: Int) throws(WireError) {
        while text.comments < count, !hasEnded { try receiveChunk() }
    }

    /// Reads until the stream ends.
    ///
    /// - Throws: `WireError` if it does not end normally.
    package func receiveEnd() throws(WireError) {
        while !hasEnded { try receiveChunk() }
    }

    private func receiveChunk(within limit: Duration = WireClient.patience) throws(WireError) {
        if let chunk = try client.receiveChunk(within: limit) { text.append(chunk) } else { hasEnded = true }
    }
}
