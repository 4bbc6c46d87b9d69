import ArbiterCore
import Dispatch

@testable import ArbiterHTTP

extension EventHub {
    /// Waits until the hub has done everything that was asked for before.
    ///
    /// A reader that names an unknown event is told to begin anew behind all that was asked for before it, and behind the
    /// resets of those before it. A second such reader comes behind what these resets led to.
    func settle() {
        guard let scene = SceneName("settling") else { preconditionFailure("the name of the scene is none") }
        for _ in 0..<2 {
            let isAsked = DispatchSemaphore(value: 0)
            let reader = subscribe(
                to: .scene(scene), after: EventNumber(rawValue: 1), outlet: RecordingExchange(),
                reset: { _ in isAsked.signal() })
            isAsked.wait()
            reader.close()
        }
    }
}
