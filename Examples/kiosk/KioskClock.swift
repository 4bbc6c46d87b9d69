import ArbiterClient

/// A process that shares the scene with the windows: now and then it shows the time, above everything else.
struct KioskClock {
    private let scene: ArbiterScene

    init(_ scene: ArbiterScene) { self.scene = scene }

    func run() async throws {
        while true {
            try await Task.sleep(for: .seconds(4))
            await perform(.present("clock", by: "kiosk"))
            try await Task.sleep(for: .seconds(2))
            await perform(.dismiss("clock"))
        }
    }

    private func perform(_ operation: TransitionOperation) async {
        let what = operation.document["type"]?.string ?? ""
        do {
            try await scene.withTransition(operation) { transition in
                say(scene.arbiter.client, "runs     \(what)")
                try await Task.sleep(for: transition.duration)
                say(scene.arbiter.client, "ended    \(what)")
            }
        } catch {
            // For example because a window presents something already. The clock is not important: it leaves it at that.
            say(scene.arbiter.client, "gives up \(what), \(error)")
        }
    }
}
