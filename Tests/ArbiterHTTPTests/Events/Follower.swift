import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// A reader without a connection, which reads on command.
final class Follower: Sendable {
    let outlet = RecordingExchange()
    let subscription: EventSubscription
    private let state: SharedState

    private final class SharedState: Sendable {
        let value = Guarded(State())
    }

    private struct State {
        var text = EventText()
        var last: StreamPiece?
        var resets: [@Sendable (EventSnapshot?) -> Void] = []
        var closings = 0
        var wasClosedByClient: Bool?
    }

    /// Follows a scene, and waits until it is attached.
    convenience init(_ hub: EventHub, _ scene: SceneName = .main, after number: UInt64? = nil) {
        self.init(hub, topic: .scene(scene), after: number)
    }

    /// Follows a topic, and waits until it is attached.
    init(_ hub: EventHub, topic: EventTopic, after number: UInt64? = nil) {
        let state = SharedState()
        self.state = state
        subscription = hub.subscribe(
            to: topic, after: number.map(EventNumber.init(rawValue:)), outlet: outlet,
            reset: { completion in state.value.withLock { $0.resets.append(completion) } },
            whenClosed: { isCut in
                state.value.withLock { state in
                    state.closings += 1
                    state.wasClosedByClient = isCut
                }
            })
        hub.settle()
    }

    /// Whether its client closed it; `nil` while it is open.
    var wasClosedByClient: Bool? { state.value.withLock { $0.wasClosedByClient } }

    /// Reads once.
    @discardableResult
    func readOnce(upTo count: Int = 4096) -> StreamPiece {
        let piece = subscription.read(upTo: count)
        state.value.withLock { state in
            state.last = piece
            if case .bytes(let bytes) = piece { state.text.append(bytes) }
        }
        return piece
    }

    /// Reads everything available.
    ///
    /// - Returns: the events.
    @discardableResult
    func read(upTo count: Int = 4096) -> [ReceivedEvent] {
        while case .bytes(let bytes) = readOnce(upTo: count) { precondition(1...count ~= bytes.count) }
        return state.value.withLock { $0.text.takeEvents() }
    }

    /// The result of the last read, if it was not bytes.
    var last: StreamPiece? { state.value.withLock { $0.last } }
    var comments: Int { state.value.withLock { $0.text.comments } }
    var retry: Int? { state.value.withLock { $0.text.retry } }
    /// How often it was closed.
    var closings: Int { state.value.withLock { $0.closings } }
    /// How many resets have asked for the state of the scene and wait for it.
    var openResets: Int { state.value.withLock { $0.resets.count } }

    /// Answers with the state of the scene.
    func reset(at number: UInt64?, byteCount: Int = 0) throws {
        let completion = try #require(state.value.withLock { $0.resets.popLast() })
        completion(number.map { EventSnapshot(number: $0, json: "{}", byteCount: byteCount) })
    }
}

extension EventSnapshot {
    /// A scene whole, of which the test makes up the JSON.
    init(number: UInt64, json: String, byteCount: Int = 0) {
        self.init(
            number: EventNumber(rawValue: number), byteCount: byteCount,
            object: [.brief { $0.bytes += Array(json.utf8) }])
    }
}

extension [ReceivedEvent] {
    /// The numbers of the events; 0 for momentary ones.
    var numbers: [UInt64] { map { $0.id ?? 0 } }
}
