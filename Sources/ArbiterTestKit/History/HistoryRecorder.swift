internal import ArbiterEngine
internal import Glibc

/// Records what clients see, from any thread.
package final class HistoryRecorder: Sendable {
    private let recorded = Guarded([ObservedCall]())

    package init() {}

    package var calls: [ObservedCall] { recorded.withLock { $0 } }

    package func add(_ call: ObservedCall) {
        recorded.withLock { $0.append(call) }
    }

    /// Sends a request and records it, answered or not.
    ///
    /// - Throws: `WireError` if no answer came.
    package func ask(
        _ question: ObservedCall.Question, scene: String, over client: WireClient, _ path: String, _ body: JSONValue,
        headers: [String] = []
    ) throws(WireError) -> WireResponse {
        let sent = Self.now()
        var answer: ObservedCall.Answer?
        defer {
            add(ObservedCall(scene: scene, question: question, sent: sent, answered: Self.now(), answer: answer))
        }
        let response = try client.request("POST", path, headers: headers, body: body.text, within: .seconds(150))
        answer = Self.answer(response)
        return response
    }

    /// Asks for the state of a transition, and records it.
    ///
    /// - Throws: `WireError` if no answer came.
    package func look(at id: String, scene: String, over client: WireClient) throws(WireError) {
        let sent = Self.now()
        let response = try client.request("GET", "/transitions/\(id)")
        add(
            ObservedCall(
                scene: scene, question: .look(id: id), sent: sent, answered: Self.now(),
                answer: Self.answer(response)))
    }

    /// Records the contents of a list that was requested at this instant and is answered now.
    package func look(at list: [JSONValue], askedAt sent: UInt64) {
        let answered = Self.now()
        for json in list {
            guard let transition = ObservedTransition(json) else { continue }
            add(
                ObservedCall(
                    scene: json["scene"].string ?? "", question: .look(id: transition.id), sent: sent,
                    answered: answered, answer: .transition(transition)))
        }
    }

    /// The machine's monotonic clock in nanoseconds, the same in every process.
    package static func now() -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    private static func answer(_ response: WireResponse) -> ObservedCall.Answer? {
        if response.status < 300, let transition = ObservedTransition(response.json) { return .transition(transition) }
        // The refusal contains the ended transition.
        if let transition = ObservedTransition(response["transition"]), response.status == 410 {
            return .transition(transition)
        }
        // After a 503, the daemon itself does not know whether the command will last.
        return response.status == 503 ? nil : .refused(response["code"].string ?? "\(response.status)")
    }
}
