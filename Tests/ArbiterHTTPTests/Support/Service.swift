import ArbiterCore
import ArbiterEngine
import ArbiterRelay
import ArbiterTestKit
import Logging
import Testing

@testable import ArbiterHTTP

/// The whole arbiter but for its sockets: a router on an engine whose clocks and alarm do as they are told.
struct Service {
    let time: ManualTime
    let alarm: ManualAlarm
    let journal: any Journal
    let engine: Engine
    let hub: EventHub
    let router: Router
    /// The events that the engine has told, those of a replay first.
    let told = ToldEvents()

    init(
        limits: Limits = Limits(), journal: any Journal = MemoryJournal(keepsRecords: true),
        web: WebAccess = WebAccess(), access: AccessControl = AccessControl(), time: ManualTime = ManualTime(),
        tellsEvents: Bool = false
    ) throws {
        self.journal = journal
        self.time = time
        alarm = ManualAlarm(time: time)
        // With an alarm of its own, so that the engine's rings for the engine only.
        let hub = EventHub(alarm: ManualAlarm(time: time))
        self.hub = hub
        engine = try Engine(limits: limits, journal: journal, time: time, alarm: alarm) { [told] events in
            told.add(events)
            if tellsEvents { hub.publish(events) }
        } observer: { notice in
            if tellsEvents { hub.note(notice) }
        }
        router = Router(
            shards: Shards(only: engine), hub: hub, web: web, access: access,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Lets time pass and the alarm ring.
    func pass(_ duration: Duration) {
        time.advance(by: duration)
        alarm.ringDue()
    }

    // MARK: Asking

    /// Sends a request with the usual header fields and those given; its answer may come later.
    @discardableResult
    func send(
        _ method: String, _ target: String, bytes: [UInt8], headers: [HeaderName: String] = [:],
        to exchange: RecordingExchange = RecordingExchange()
    ) -> RecordingExchange {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts.dropFirst().flatMap { $0.split(separator: "&") }.map { item in
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return QueryItem(name: String(pair[0]), value: pair.count > 1 ? String(pair[1]) : "")
        }
        var usual: [HeaderName: String] = [.host: "localhost"]
        if !bytes.isEmpty { usual[.contentType] = "application/json" }
        let fields = usual.merging(headers) { $1 }
        let request = Request(
            method: method, path: String(parts[0]), query: query, headers: DictionaryHeaders(fields: fields),
            body: bytes)
        router.handle(request, exchange)
        return exchange
    }

    @discardableResult
    func send(
        _ method: String, _ target: String, _ body: String = "", headers: [HeaderName: String] = [:],
        to exchange: RecordingExchange = RecordingExchange()
    ) -> RecordingExchange {
        send(method, target, bytes: Array(body.utf8), headers: headers, to: exchange)
    }

    /// Sends a request that is answered at once, or after long work.
    @discardableResult
    func ask(
        _ method: String, _ target: String, _ body: String = "", headers: [HeaderName: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Answer {
        let exchange = send(method, target, body, headers: headers)
        _ = eventually { router.longWork.count == 0 }
        return try exchange.answer(sourceLocation: sourceLocation)
    }

    // MARK: What tests need often

    /// Starts a transition.
    @discardableResult
    func started(_ body: String = "") throws -> Owned { try Owned(try ask("POST", "/transitions/start", body)) }

    /// Queues a transition.
    @discardableResult
    func serialized(_ body: String = "") throws -> Owned { try Owned(try ask("POST", "/transitions/serialize", body)) }

    /// Ends a transition as completed.
    @discardableResult
    func ended(_ transition: Owned) throws -> Answer {
        try ask("POST", "/transitions/end", transition.acting())
    }

    /// Declares the main scene.
    @discardableResult
    func declared(_ storyboard: String = Service.storyboard, headers: [HeaderName: String] = [:]) throws -> Answer {
        try ask("PUT", "/scenes/main/storyboard", storyboard, headers: headers)
    }

    /// Tabs with a stack on which a list stands, and a way from there to an editor.
    static let storyboard = """
        {"root": {"id": "tabs", "kind": "tabs", "children": [
            {"id": "nav", "kind": "navigation", "children": ["list"]},
            {"id": "more", "kind": "navigation", "children": ["settings"]}]},
         "segues": [{"identifier": "edit", "source": "list", "kind": "show", "destination": "editor"}],
         "transitionTypes": [{"name": "star", "duration": 1, "curve": "linear"}],
         "defaults": {"duration": 0.25}}
        """

    /// The tree of the main scene, as it is now.
    func hierarchy() throws -> JSON? { try ask("GET", "/scenes/main").body["hierarchy"] }

    /// Every transition that is remembered.
    func transitions() throws -> [JSON] {
        try #require(try ask("GET", "/transitions?limit=1000").body["transitions"]).elements
    }
}

/// The events that an engine has told, in their order.
final class ToldEvents: Sendable {
    private let events = Guarded<[SceneEvent]>([])

    var all: [SceneEvent] { events.withLock { $0 } }

    func add(_ more: [SceneEvent]) { events.withLock { $0 += more } }
}

/// What an owner knows of its transition.
struct Owned {
    let id: String
    let token: String
    let answer: Answer

    init(_ answer: Answer) throws {
        id = try #require(answer.body["id"]?.text, "\(answer.body)")
        token = try #require(answer.body["token"]?.text, "\(answer.body)")
        self.answer = answer
    }

    /// A body that acts on it.
    func acting(_ more: String = "") -> String {
        #"{"id": "\#(id)", "token": "\#(token)"\#(more.isEmpty ? "" : ", " + more)}"#
    }
}

extension RecordingExchange {
    /// The one answer that was given, with all of its body unless that is a stream of events.
    func answer(sourceLocation: SourceLocation = #_sourceLocation) throws -> Answer {
        let responses = responses
        try #require(responses.count == 1, "there were \(responses.count) answers", sourceLocation: sourceLocation)
        guard let source, responses[0].contentType == .json else {
            return try Answer(responses[0], sourceLocation: sourceLocation)
        }
        let head = responses[0]
        var whole = Response(head.status, head.contentType, body: body(from: source), headers: head.headers)
        (whole.requestID, whole.allowedOrigin) = (head.requestID, head.allowedOrigin)
        return try Answer(whole, sourceLocation: sourceLocation)
    }

    private func body(from source: any StreamSource) -> [UInt8] {
        var body: [UInt8] = []
        while case .bytes(let bytes) = source.read(upTo: 16_384) { body += bytes }
        return body
    }
}
