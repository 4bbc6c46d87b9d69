import ArbiterClient

/// A view that uses the words of TransitionLock for iOS; the lock is shared with the views in other processes.
struct TransitionLockView {
    private let scene: ArbiterScene
    private let lock: TransitionLock

    init(_ scene: ArbiterScene) {
        self.scene = scene
        lock = TransitionLock(scene) { transition in
            // Here a real view draws what the operation does.
            let operation = transition.document["operation"]?["type"]?.string ?? ""
            try await Self.animate(scene.arbiter.client, operation)
        }
    }

    func play(_ act: String) async throws {
        switch act {
        case "press": try await press()
        case "serialize": await serialize()
        case "push": await push()
        case "hang": await hang()
        case "watch": try await watch()
        default: View.usage()
        }
    }

    /// A button that is pressed again and again: a press begins a transition, or it is dropped.
    private func press() async throws {
        for press in 1...5 {
            if try await lock.startTransition() {
                try await Self.animate(name, "press \(press)")
                try await lock.endTransition()
            } else {
                say(name, "dropped  press \(press)")
            }
            try await Task.sleep(for: .milliseconds(150))
        }
    }

    /// Blocks that must not be lost wait for their turn, strictly first come, first served.
    private func serialize() async {
        for number in 1...2 {
            await withCheckedContinuation { done in
                lock.serializeTransition {
                    // The block begins the animation and returns; the lock is held until transitionComplete.
                    Task {
                        defer { lock.transitionComplete() }
                        try await Self.animate(name, "block \(number)")
                    }
                } completion: { _ in
                    done.resume()
                }
            }
        }
    }

    /// Operations on the tree: each has a completion, which is called once.
    private func push() async {
        await withCheckedContinuation { done in
            say(name, "asks     push settings")
            lock.push("settings", onto: "nav") { completion in
                switch completion {
                case .finished: say(name, "finished push")
                case .cancelled(let error): say(name, "cancelled push, \(error)")
                }
                done.resume()
            }
        }
        await withCheckedContinuation { done in
            say(name, "asks     pop")
            lock.pop("nav") { completion in
                say(name, completion.isFinished ? "finished pop" : "cancelled pop")
                done.resume()
            }
        }
    }

    /// A view with a mistake: it never says that its transition is complete.
    private func hang() async {
        await withCheckedContinuation { done in
            lock.serializeTransition {
                say(name, "runs     for ever")
            } completion: { _ in
                done.resume()
            }
        }
    }

    /// Says who waits, which a view knows only of itself, and what has expired.
    private func watch() async throws {
        var waiting: [(id: String?, client: String)] = []
        for try await event in scene.events(since: "0") {
            let (id, client) = (event.data["id"]?.string, event.data["client"]?.string ?? "")
            switch event.name {
            case "transition.queued":
                waiting.append((id, client))
                say(name, "waiting  \(waiting.map(\.client).joined(separator: ", "))")
            case "transition.running":
                waiting.removeAll { $0.id == id }
            case "transition.ended":
                waiting.removeAll { $0.id == id }
                if event.data["outcome"] == "expired" {
                    say(name, "expired  \(client), \(event.data["reason"]?.string ?? "")")
                }
            case "scene.deleted":
                return
            default:
                break
            }
        }
    }

    private var name: String? { scene.arbiter.client }

    /// Stands in for an animation.
    private static func animate(_ name: String?, _ what: String) async throws {
        say(name, "runs     \(what)")
        try await Task.sleep(for: .milliseconds(300))
        say(name, "ended    \(what)")
    }
}
