internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

/// `/livez` and `/readyz`: for whoever starts, stops and watches the daemon.
struct HealthEndpoints: Sendable {
    let shards: Shards

    func live(_ call: Call) throws(Problem) {
        call.respond(.json(200) { $0.member("status", "live") })
    }

    func ready(_ call: Call) throws(Problem) {
        if let reason = shards.waitsFor {
            throw Problem(.notOwner, "The node waits for \(reason).", retryAfter: Problem.retrySoon)
        }
        let engines = shards.here
        guard let engine = engines.first(where: { !$0.isAvailable }) ?? engines.first else {
            return call.respond(answer)
        }
        engine.read { machine, now in
            machine.remainingHold(at: now)
        } completion: { result in
            call.respond(result) { remaining in
                remaining.map { Problem(remainingHold: $0).response } ?? answer
            }
        }
    }

    private var answer: Response {
        .json(200) { writer in
            writer.member("status", "ready")
            writer.writeUnserved(shards)
        }
    }
}
