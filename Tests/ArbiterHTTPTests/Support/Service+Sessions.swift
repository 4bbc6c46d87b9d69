import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// What a client knows of its session.
struct OwnedSession {
    let id: String
    let token: String
    let answer: Answer

    init(_ answer: Answer) throws {
        id = try #require(answer.body["id"]?.text, "\(answer.body)")
        token = try #require(answer.body["token"]?.text, "\(answer.body)")
        self.answer = answer
    }

    /// The header fields of a request in it.
    var headers: [HeaderName: String] { [.session: token] }
}

extension Service {
    /// Begins a session.
    @discardableResult
    func opened(_ body: String = "") throws -> OwnedSession { try OwnedSession(try ask("POST", "/sessions", body)) }

    /// Starts a transition in a session.
    @discardableResult
    func started(_ body: String = "", in session: OwnedSession) throws -> Owned {
        try Owned(try ask("POST", "/transitions/start", body, headers: session.headers))
    }

    /// Queues a transition in a session.
    @discardableResult
    func serialized(_ body: String = "", in session: OwnedSession) throws -> Owned {
        try Owned(try ask("POST", "/transitions/serialize", body, headers: session.headers))
    }

    /// A transition as anybody sees it.
    func shown(_ transition: Owned) throws -> JSON { try ask("GET", "/transitions/\(transition.id)").body }

    /// Follows a scene, and has settled in.
    func following(_ target: String = "/scenes/main/events", headers: [HeaderName: String] = [:]) -> RecordingExchange {
        let exchange = send("GET", target, headers: headers)
        hub.settle()
        return exchange
    }
}

extension RecordingExchange {
    /// The events that have come to a stream.
    func events() throws -> [ReceivedEvent] {
        let source = try #require(source)
        var text = EventText()
        while case .bytes(let bytes) = source.read(upTo: 4096) { text.append(bytes) }
        return text.events
    }
}

/// A token that nobody has.
let nobodysToken = "00000000000000000000000000000000"
