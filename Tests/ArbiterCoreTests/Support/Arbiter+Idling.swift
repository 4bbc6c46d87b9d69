import Testing

@testable import ArbiterCore

extension Arbiter {
    /// Asks whether a scene is idle, without waiting.
    mutating func look(
        _ scene: SceneName = .main, below part: ControllerID? = nil, quiet: Duration = .zero,
        at location: SourceLocation = #_sourceLocation
    ) throws -> IdleView {
        let answer = try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.awaitIdle(scene, below: part, for: quiet, park: nil, in: &step)
        }
        guard case .now(let view) = answer else { throw Parked() }
        return view
    }

    /// Waits for a scene to be idle.
    mutating func park(
        _ scene: SceneName = .main, below part: ControllerID? = nil, quiet: Duration = .zero, session: Session? = nil,
        wait: Duration = Limits.waitDurations.upperBound, at location: SourceLocation = #_sourceLocation
    ) -> WaiterID {
        let park = Park(waiter: nextWaiter(), wait: wait)
        parkingForIdle(park.waiter, at: location) { machine, step throws(ArbiterError) in
            try machine.awaitIdle(
                scene, below: part, for: quiet, session: session?.token, park: park, in: &step)
        }
        return park.waiter
    }
}

private struct Parked: Error {}
