import ArbiterEngine

@testable import ArbiterHTTP

/// An exchange without a connection: it keeps every answer, and its client goes away when told.
final class RecordingExchange: Exchange {
    private struct State {
        var responses: [Response] = []
        var sources: [any StreamSource] = []
        var wakes = 0
        var isCut = false
        var reservations = 0
        var rooms: [AnswerRoom] = []
        var whenAbandoned: (@Sendable () -> Void)?
    }

    private let state = Guarded(State())
    private let hasPlace: Bool

    init(hasPlace: Bool = true) {
        self.hasPlace = hasPlace
    }

    func respond(_ response: Response) {
        state.withLock { $0.responses.append(response) }
    }

    func stream(_ head: Response, from source: any StreamSource) {
        state.withLock { state in
            state.responses.append(head)
            state.sources.append(source)
        }
    }

    func wake() {
        state.withLock { $0.wakes += 1 }
    }

    func cut() {
        state.withLock { $0.isCut = true }
    }

    func reservePlace() -> Bool {
        state.withLock { $0.reservations += 1 }
        return hasPlace
    }

    func reserve(_ room: AnswerRoom) -> Bool {
        state.withLock { $0.rooms.append(room) }
        return hasPlace
    }

    func whenAbandoned(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.whenAbandoned = action }
    }

    // MARK: What a test asks

    /// Every answer that was given; one too many is a fault of the endpoint.
    var responses: [Response] { state.withLock { $0.responses } }

    /// Where the body comes from, if it is a stream.
    var source: (any StreamSource)? { state.withLock { $0.sources.first } }

    /// How often the source has said that there is something.
    var wakes: Int { state.withLock { $0.wakes } }

    /// Whether the source has had the connection closed.
    var isCut: Bool { state.withLock { $0.isCut } }

    /// What room was asked for.
    var rooms: [AnswerRoom] { state.withLock { $0.rooms } }

    /// How often a place to wait was asked for.
    var reservations: Int { state.withLock { $0.reservations } }

    /// The client closes its connection.
    func abandon() {
        let action = state.withLock { $0.whenAbandoned.take() }
        action?()
    }
}

/// Header fields in a dictionary.
struct DictionaryHeaders: HeaderFields {
    let fields: [HeaderName: String]

    func value(of name: HeaderName) -> String? { fields[name] }
}
