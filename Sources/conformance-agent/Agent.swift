import ArbiterClient
import Foundation
import Synchronization

struct AgentCommand: Sendable {
    let members: [String: JSONValue]

    init?(_ line: String) {
        let decoder = JSONDecoder()
        guard let members = try? decoder.decode([String: JSONValue].self, from: Data(line.utf8)) else { return nil }
        self.members = members
    }

    func text(_ name: String) -> String { members[name]?.string ?? "" }

    func seconds(_ name: String) -> Duration { .seconds(members[name]?.number ?? 0) }

    /// The options have the names of the wire.
    var options: TransitionOptions {
        var options = TransitionOptions()
        options.further = members["options"]?.object ?? [:]
        return options
    }
}

final class Agent: Sendable {
    let arbiter: Arbiter
    private let transitions = Mutex<[String: HeldTransition]>([:])
    private let locks = Mutex<[String: TransitionLock]>([:])
    private let gestures = Mutex<[String: InteractiveTransition]>([:])
    private let hierarchies = Mutex<[String: LiveHierarchy]>([:])
    private let streams = Streams()
    private let output = Mutex(())

    let url: URL

    init(_ arbiter: Arbiter, at url: URL) {
        self.arbiter = arbiter
        self.url = url
    }

    func answer(_ command: AgentCommand) async {
        var answer: [String: JSONValue]
        do { answer = try await run(command) } catch { answer = Self.failure(error) }
        answer["n"] = command.members["n"]
        guard let line = try? JSONEncoder().encode(answer) else { return }
        output.withLock { _ in FileHandle.standardOutput.write(line + Data("\n".utf8)) }
    }
    private func run(_ command: AgentCommand) async throws -> [String: JSONValue] {
        let scene = arbiter.scene(command.text("scene"))
        switch command.text("do") {
        case "start": return hold(try await scene.start(command.options), for: command)
        case "serialize":
            let timeout = command.members["timeout"]?.number.map { Duration.seconds($0) }
            let waited = Mutex<[JSONValue]>([])
            let transition = try await scene.serialize(command.options, timeout: timeout) { ticket in
                waited.withLock { $0.append(ticket) }
            }
            let answer = hold(transition, for: command)
            return answer.merging(["waited": .array(waited.withLock { $0 })]) { $1 }
        case "complete": return ["transition": try await held(command).complete()]
        case "cancel": return ["transition": try await held(command).cancel()]
        case "document": return ["transition": held(command).document]
        case "progress":
            return ["answer": try await held(command).progress(command.members["fraction"]?.number ?? 0)]
        case "release": return ["answer": try await held(command).release(command.members["decision"]?.string)]
        case "flick":
            let (fraction, count) = (command.members["fraction"]?.number ?? 0, command.members["count"]?.number ?? 0)
            var finished = 0
            for _ in 0..<Int(count) where try await flick(scene, to: fraction, raw: command.members["raw"] == true) {
                finished += 1
            }
            return ["finished": .number(Double(finished))]
        case "drag":
            let timeout = command.members["timeout"]?.number.map { Duration.seconds($0) }
            let gesture = scene.serializeInteractive(command.options, timeout: timeout)
            gestures.withLock { $0[command.text("as")] = gesture }
            return [:]
        case "move":
            gesture(command).update(command.members["fraction"]?.number ?? 0)
            return [:]
        case "letGo":
            return try await letGo(gesture(command), decision: command.members["decision"]?.string)
        case "granted": return ["transition": try await gesture(command).granted.document]
        case "perform":
            let operation = command.members["operations"] ?? command.members["operation"] ?? .null
            return [
                "answer": try await held(command).perform(
                    TransitionOperation(operation), expecting: command.members["expect"])
            ]
        case "performSegue": return try await performSegue(TransitionLock(scene))
        case "dismissInTurn": return try await dismissInTurn(TransitionLock(scene), then: command.text("then"))
        case "loseInTurn":
            return await loseInTurn(TransitionLock(scene) { await $0.untilLost() })
        case "startInLock":
            let lock = TransitionLock(scene, options: command.options)
            locks.withLock { $0[command.text("as")] = lock }
            return ["started": .bool(try await lock.startTransition())]
        case "hold":
            try await scene.withTransition(command.options) { transition in
                for call in command.members["calls"]?.array ?? [] {
                    switch call["do"]?.string {
                    case "complete": try await transition.complete()
                    case "cancel": try await transition.cancel()
                    default: try await transition.release(call["decision"]?.string)
                    }
                }
            }
            return [:]
        case "attempt":
            struct Failing: Error {}
            let fails = command.members["fails"]?.bool ?? false
            do {
                let held: Void? = try await scene.withTransition(ifFree: TransitionOptions()) { _ in
                    if fails { throw Failing() }
                }
                return ["held": .bool(held != nil)]
            } catch is Failing {
                return ["held": true]
            }
        case "nest":
            var options = TransitionOptions()
            options.waitsForSelf = command.members["waits"]?.bool ?? false
            let timeout = command.members["timeout"]?.number.map { Duration.seconds($0) }
            try await scene.withTransition { _ in
                guard command.members["gesture"] == true else {
                    return try await scene.withTransition(options, timeout: timeout) { _ in }
                }
                try await scene.serializeInteractive(options, timeout: timeout).finish()
            }
            return [:]
        case "drop":
            transitions.withLock { $0[command.text("as")] = nil }
            locks.withLock { $0[command.text("as")] = nil }
            return [:]
        case "untilIdle":
            let timeout = command.members["timeout"]?.number.map { Duration.seconds($0) }
            return [
                "answer": try await scene.untilIdle(
                    below: command.members["id"]?.string, quiet: command.seconds("quiet"), timeout: timeout)
            ]
        case "untilController":
            let timeout = command.members["timeout"]?.number.map { Duration.seconds($0) }
            if let condition = command.members["not"]?.string {
                return [
                    "answer": try await scene.untilController(command.text("id"), isNot: condition, timeout: timeout)
                ]
            }
            return [
                "answer": try await scene.untilController(command.text("id"), is: command.text("is"), timeout: timeout)
            ]
        case "controller": return ["answer": try await scene.controller(command.text("id"))]
        case "dryRun":
            let call = ArbiterScene.Call(rawValue: command.text("call")) ?? .start
            return ["answer": try await scene.dryRun(call, command.options)]
        case "patchStoryboard":
            return ["answer": try await scene.patchStoryboard(command.members["changes"] ?? .null)]
        case "read": return ["answer": try await arbiter.read(command.text("id"))]
        case "listed":
            let limit = command.members["limit"]?.number.map { Int($0) } ?? 100
            let state = command.members["state"]?.string
            return ["answer": .array(try await arbiter.transitions(scene: scene.name, state: state, limit: limit))]
        case "scenes": return ["answer": .array(try await arbiter.scenes())]
        case "revoke":
            return ["answer": try await arbiter.revoke(command.text("id"), reason: command.text("reason"))]
        case "lost":
            let transition = held(command)
            await transition.untilLost()
            return Self.shown(transition.ending)
        case "interrupted":
            let transition = held(command)
            await transition.untilInterrupted()
            return ["interruption": transition.interruption ?? .null]
        case "ready": return ["transition": try await arbiter.ready(for: command.text("id"))]
        case "veto":
            return ["transition": try await arbiter.veto(command.text("id"), reason: command.members["reason"]?.string)]
        case "revokeAll":
            let client = command.members["client"]?.string
            return [
                "revoked": .array(
                    try await scene.revoke(client: client, reason: command.text("reason")).map { .string($0) })
            ]
        case "update": return ["transition": try await held(command).update(command.members["animation"] ?? [:])]
        case "addGuard":
            let controllers = command.members["controllers"]?.array?.compactMap(\.string) ?? []
            let onSilence = command.members["onSilence"]?.string.flatMap { SilenceAction(rawValue: $0) }
            return ["guard": try await scene.addGuard(of: controllers, onSilence: onSilence ?? .proceed)]
        case "removeGuard":
            try await scene.removeGuard(command.text("id"))
            return [:]
        case "declare":
            let storyboard = command.members["storyboard"] ?? .null
            let isDryRun = command.members["dryRun"] == true
            return ["answer": try await scene.declare(storyboard, isDryRun: isDryRun) ?? .null]
        case "follow":
            let isAttached = command.members["attached"]?.bool ?? false
            let events =
                command.members["scene"] == .null
                ? arbiter.events(isAttached: isAttached) : scene.events(since: "0", isAttached: isAttached)
            await streams.follow(command.text("as"), events)
            return [:]
        case "next":
            guard let event = try await streams.next(of: command.text("as"), named: command.text("name")) else {
                return [:]
            }
            return [
                "event": [
                    "name": .string(event.name), "data": event.data, "id": event.id.map { .string($0) } ?? .null,
                ]
            ]
        case "hierarchy":
            let hierarchy = try await scene.hierarchy()
            hierarchies.withLock { $0[command.text("as")] = hierarchy }
            return ["hierarchy": Self.shown(hierarchy.current)]
        case "current":
            guard let kept = hierarchies.withLock({ $0[command.text("as")] }) else { return [:] }
            for try await hierarchy in kept.changes where hierarchy.isCurrent == command.members["is"]?.bool {
                return ["hierarchy": Self.shown(hierarchy)]
            }
            return [:]
        case "emptied":
            guard let kept = hierarchies.withLock({ $0[command.text("as")] }) else { return [:] }
            for try await hierarchy in kept.changes where hierarchy.root == nil {
                return ["hierarchy": Self.shown(hierarchy)]
            }
            return [:]
        case "close":
            await arbiter.close()
            return [:]
        case "misuse": return ["accepted": .array(await misuses().map { .string($0) })]
        case "revision":
            guard let kept = hierarchies.withLock({ $0[command.text("as")] }) else { return [:] }
            let wanted = command.members["at"]?.number ?? 0
            for try await hierarchy in kept.changes where hierarchy.revision >= Int(wanted) {
                return ["hierarchy": Self.shown(hierarchy)]
            }
            return [:]
        default: preconditionFailure("there is no command \(command.text("do"))")
        }
    }

    /// A gesture that ends before any of its positions is answered.
    private func flick(_ scene: ArbiterScene, to fraction: Double, raw: Bool) async throws -> Bool {
        let positions = (1...20).map { fraction * Double($0) / 20 }
        var options = TransitionOptions()
        options.isInteractive = true
        guard raw else {
            guard let gesture = try await scene.startInteractive(options) else { return false }
            for position in positions { gesture.update(position) }
            return try await gesture.release { _, _ in }
        }
        guard let transition = try await scene.start(options) else { return false }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, position) in positions.enumerated() {
                // A late position is no error.
                group.addTask { try await transition.progress(position, sequence: number + 1) }
            }
            let isFinished = try await transition.release(fraction: fraction)["decision"] == "finish"
            _ = isFinished ? try await transition.complete() : try await transition.cancel()
            try await group.waitForAll()
            return isFinished
        }
    }

    private func letGo(_ gesture: InteractiveTransition, decision: String?) async throws -> [String: JSONValue] {
        var played: [JSONValue] = []
        let rest: InteractiveTransition.Rest = { remaining, transition in
            played.append(transition.decision.map { .string($0) } ?? .null)
            try await Task.sleep(for: remaining)
        }
        switch decision {
        case "finish": try await gesture.finish(rest)
        case "cancel": try await gesture.cancel(rest)
        default: return ["finished": .bool(try await gesture.release(rest)), "played": .array(played)]
        }
        return ["played": .array(played)]
    }

    private func gesture(_ command: AgentCommand) -> InteractiveTransition {
        guard let gesture = gestures.withLock({ $0[command.text("as")] }) else {
            preconditionFailure("there is no gesture \(command.text("as"))")
        }
        return gesture
    }

    private func held(_ command: AgentCommand) -> HeldTransition {
        guard let transition = transitions.withLock({ $0[command.text("as")] }) else {
            preconditionFailure("there is no transition \(command.text("as"))")
        }
        return transition
    }

    private func hold(_ transition: HeldTransition?, for command: AgentCommand) -> [String: JSONValue] {
        transitions.withLock { $0[command.text("as")] = transition }
        guard let transition else { return ["transition": .null] }
        return ["transition": transition.document, "duration": .number(transition.duration.inSeconds)]
    }

    private static func shown(_ ending: EndedTransition?) -> [String: JSONValue] {
        [
            "outcome": ending.map { .string($0.outcome) } ?? .null,
            "reason": ending?.reason.map { .string($0) } ?? .null,
        ]
    }

    private static func shown(_ hierarchy: Hierarchy) -> JSONValue {
        ["root": hierarchy.root?.document ?? .null, "revision": .number(Double(hierarchy.revision))]
    }

    private static func failure(_ error: any Error) -> [String: JSONValue] {
        switch error as? ClientError {
        case .refused(let refusal): ["error": "refused", "code": .string(refusal.code)]
        case .ended(let ending):
            shown(ending).merging(["error": "ended", "code": ending.code.map { .string($0) } ?? .null]) { $1 }
        case .timedOut: ["error": "timedOut"]
        case .blockedBySelf: ["error": "blockedBySelf"]
        case .unreachable: ["error": "unreachable"]
        case .closed: ["error": "closed"]
        case nil: preconditionFailure("\(error)")
        }
    }
}
