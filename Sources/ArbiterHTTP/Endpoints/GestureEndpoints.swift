internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

/// `/transitions/progress`, `/release` and `/ready`: what drives gestures, and who is ready.
struct GestureEndpoints: Sendable {
    /// The greatest whole number up to which every client's numbers are exact.
    static let greatestSequence = 1 << 53

    let shards: Shards

    func progress(_ call: Call) throws(Problem) {
        var transition = ActedTransition()
        var fraction: Double?
        var velocity: Double?
        var sequence: UInt64?
        try call.readBody { field, value throws(Problem) in
            switch field {
            case "fraction": fraction = try value.double(field)
            case "velocity": velocity = try value.double(field)
            case "sequence": sequence = UInt64(try value.integer(field, in: 0...Self.greatestSequence))
            default: try transition.read(field, &value)
            }
        }
        let (id, token) = (try transition.requiredID(), try transition.requiredToken())
        guard let fraction else { throw Problem.missing("fraction") }
        let progress = GestureProgress(fraction: fraction, velocity: velocity, sequence: sequence)
        try shards.engine(of: id).progress(id, token: token, progress, by: call.takeAsker()) { result in
            switch result {
            case .success(let answer):
                call.respond(200, answer.view) { $0.member("applied", answer.isApplied) }
            case .failure(let error): call.respond(Problem(error).response)
            }
        }
    }

    func release(_ call: Call) throws(Problem) {
        var transition = ActedTransition()
        var release = GestureRelease()
        try call.readBody { field, value throws(Problem) in
            switch field {
            case "decision": release.decision = try value.word(field)
            case "fraction": release.fraction = min(max(try value.double(field), 0), 1)
            case "velocity": release.velocity = try value.double(field)
            case "cancelled": release.isCancelled = try value.boolean(field)
            case "completionSpeed": release.completionSpeed = try value.double(field, in: Limits.completionSpeeds)
            default: try transition.read(field, &value)
            }
        }
        let (id, token) = (try transition.requiredID(), try transition.requiredToken())
        try shards.engine(of: id).release(id, token: token, release, by: call.takeAsker()) { result in
            switch result {
            case .success(let view):
                call.respond(200, view) { writer in
                    if let gesture = view.transition.gesture { writer.member("decision", gesture.decision.rawValue) }
                    if let remaining = view.remainingGesture { writer.member("remaining", remaining) }
                }
            case .failure(let error): call.respond(Problem(error).response)
            }
        }
    }

    func ready(_ call: Call) throws(Problem) {
        var id: TransitionID?
        var client: ClientName?
        var isReady = true
        var reason: GivenReason?
        try call.readBody { field, value throws(Problem) in
            switch field {
            case "id": id = try TransitionID(try value.string(field), field: field)
            case "client": client = try ClientName(try value.string(field), field: field)
            case "ready": isReady = try value.boolean(field)
            case "reason": reason = try GivenReason(try value.string(field), field: field)
            default: throw Problem.unknown(field)
            }
        }
        guard let id else { throw Problem.missing("id") }
        guard reason == nil || !isReady else {
            throw .invalid("reason", "can be given only where \"ready\" is false")
        }
        let session = try call.requiredSession()
        try call.engine(of: id, in: shards, hosting: session).report(
            isReady ? .ready : .veto(reason), on: id, client: client, session: session, by: call.takeAsker()
        ) { result in
            switch result {
            case .success(let view): call.respond(200, view)
            case .failure(let error): call.respond(Problem(error).response)
            }
        }
    }
}
