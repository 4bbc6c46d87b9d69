// The agent of the Swift client for the scenarios of Clients/conformance.

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

    /// The options have the names of the wire.
    var options: TransitionOptions {
        var options = TransitionOptions()
        options.further = members["options"]?.object ?? [:]
        return options
    }
}

/// How many events, or commands, may wait; the scenarios need fewer.
let waitingLimit = 10_000

/// The streams of events, each read by the commands that ask for its next one, in turn.
actor Streams {
    private var streams: [String: AsyncThrowingStream<ArbiterEvent, any Error>.Iterator] = [:]

    /// Follows from now on: the events are gathered until they are asked for.
    func follow(_ name: String, _ events: ArbiterEvents) {
        let (stream, continuation) = AsyncThrowingStream<ArbiterEvent, any Error>.makeStream(
            bufferingPolicy: .bufferingOldest(waitingLimit))
        streams[name] = stream.makeAsyncIterator()
        Task {
            for try await event in events {
                if case .dropped = continuation.yield(event) { preconditionFailure("too many events of \(name) wait") }
            }
        }
    }

    func next(of name: String, named wanted: String) async throws -> ArbiterEvent? {
        guard var iterator = streams[name] else { return nil }
        defer { streams[name] = iterator }
        while let event = try await iterator.next(isolation: #isolation) {
            if event.name == wanted { return event }
        }
        return nil
    }
}

/// What a completion is called with, once.
final class SingleCompletion: Sendable {
    private let stream = AsyncStream<TransitionLock.Completion>.makeStream()

    func note(_ completion: TransitionLock.Completion) { stream.continuation.yield(completion) }

    func value() async -> TransitionLock.Completion? {
        for await completion in stream.stream { return completion }
        return nil
    }

    /// What was removed, or the code of the refusal.
    func shown() async -> JSONValue {
        switch await value() {
        case .finished(let removed): .array(removed.map { .string($0) })
        case .cancelled(ClientError.refused(let refusal)): .string(refusal.code)
        case .cancelled, nil: .null
        }
    }
}

final class Agent: Sendable {
    private let arbiter: Arbiter
    private let transitions = Mutex<[String: HeldTransition]>([:])
    private let hierarchies = Mutex<[String: LiveHierarchy]>([:])
    private let streams = Streams()
    private let output = Mutex(())

    private let url: URL

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

    /// The first example of TransitionLock.
    private func performSegue(_ lock: TransitionLock) async throws -> [String: JSONValue] {
        guard try await lock.startTransition() else { return ["started": false] }
        return try await Self.completion { done in
            lock.performSegue("mySegue", sender: "list") { completion in
                lock.endTransition()
                done(completion)
            }
        }
    }

    /// The second one.
    private func dismissInTurn(_ lock: TransitionLock, then next: String) async throws -> [String: JSONValue] {
        let (dismissed, again) = (SingleCompletion(), SingleCompletion())
        let pushed = SingleCompletion()
        let turn = try await Self.completion { done in
            lock.serializeTransition {
                lock.dismiss("list") { dismissed.note($0) }
                lock.dismiss("list") { completion in
                    again.note(completion)
                    lock.transitionComplete()
                    // A transition of its own, which comes after the one of the block.
                    lock.push(ControllerNode(.string(next)), onto: "nav") { pushed.note($0) }
                }
            } completion: {
                done($0)
            }
        }
        guard case .finished = await pushed.value() else { return [:] }
        return await turn.merging(["dismissed": dismissed.shown(), "again": again.shown()]) { $1 }
    }

    /// What a completion is called with, once.
    private static func completion(
        _ begin: (@escaping @Sendable (TransitionLock.Completion) -> Void) -> Void
    ) async throws -> [String: JSONValue] {
        // A second call would end the process.
        switch await withCheckedContinuation({ done in begin { done.resume(returning: $0) } }) {
        case .finished(let removed): return ["removed": .array(removed.map { .string($0) })]
        case .cancelled(let error): throw error
        }
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
        case "progress":
            return ["answer": try await held(command).progress(command.members["fraction"]?.number ?? 0)]
        case "release": return ["answer": try await held(command).release(command.members["decision"]?.string)]
        case "perform":
            let operation = TransitionOperation(command.members["operation"] ?? .null)
            return [
                "answer": try await held(command).perform(operation, expecting: command.members["expect"])
            ]
        case "performSegue": return try await performSegue(TransitionLock(scene))
        case "dismissInTurn": return try await dismissInTurn(TransitionLock(scene), then: command.text("then"))
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
            try await scene.withTransition { _ in try await scene.withTransition(options, timeout: timeout) { _ in } }
            return [:]
        case "drop":
            transitions.withLock { $0[command.text("as")] = nil }
            return [:]
        case "lost":
            let transition = held(command)
            await transition.untilLost()
            return Self.shown(transition.ending)
        case "ready": return ["transition": try await arbiter.ready(for: command.text("id"))]
        case "declare": return ["answer": try await scene.declare(command.members["storyboard"] ?? .null) ?? .null]
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

    /// The names of those wrong uses that are not refused at once, or whose refusal shows the secret.
    private func misuses() async -> [String] {
        let (url, secret) = (url, "a secret")
        func arbiter(_ url: URL, token: String? = nil, headers: [String: String] = [:]) -> Arbiter {
            Arbiter(url: url, token: token, patience: .seconds(300), headers: headers)
        }
        let uses: [(String, () async throws -> Void)] = [
            ("token", { _ = try await arbiter(url, token: "\(secret)\nX-A: b").scene("misused").start() }),
            ("header", { _ = try await arbiter(url, headers: ["X-A": "\(secret)\r\n"]).scene("misused").start() }),
            ("name of a header", { _ = try await arbiter(url, headers: ["X Y": secret]).scene("misused").start() }),
            (
                "scheme",
                { _ = try await arbiter(URL(string: "ftp://127.0.0.1") ?? url).scene("misused").start() }
            ),
            (
                "id",
                {
                    for try await _ in arbiter(url).scene("misused").events(since: "1\n2") {}
                }
            ),
            (
                "body",
                {
                    var options = TransitionOptions()
                    options.further["leaseSeconds"] = .number(.infinity)
                    _ = try await arbiter(url).scene("misused").start(options)
                }
            ),
            (
                "lease",
                {
                    var options = TransitionOptions()
                    options.lease = .seconds(-1)
                    _ = try await arbiter(url).scene("misused").serialize(options)
                }
            ),
            ("timeout", { _ = try await arbiter(url).scene("misused").serialize(timeout: .seconds(-1)) }),
            ("patience", { _ = try await Arbiter(url: url, patience: .seconds(-1)).scene("misused").start() }),
        ]
        var accepted: [String] = []
        for (name, use) in uses {
            do {
                try await use()
                accepted.append(name)
            } catch {
                if "\(error)".contains(secret) { accepted.append(name) }
            }
        }
        return accepted
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

guard CommandLine.arguments.count == 4, let url = URL(string: CommandLine.arguments[1]),
    let options = try? JSONDecoder().decode(JSONValue.self, from: Data(CommandLine.arguments[3].utf8))
else {
    FileHandle.standardError.write(Data("usage: conformance-agent URL NAME OPTIONS\n".utf8))
    exit(64)
}
let agent = Agent(
    Arbiter(
        url: url, client: CommandLine.arguments[2], patience: .seconds(options["patience"]?.number ?? 30),
        headers: options["headers"]?.object?.compactMapValues(\.string) ?? [:]),
    at: url)
// A thread of its own reads, because it waits for lines.
let lines = AsyncStream<String>(bufferingPolicy: .bufferingOldest(waitingLimit)) { continuation in
    Thread.detachNewThread {
        while let line = readLine() {
            if case .dropped = continuation.yield(line) { preconditionFailure("too many commands wait") }
        }
        continuation.finish()
    }
}
for await line in lines {
    guard let command = AgentCommand(line) else { continue }
    Task { await agent.answer(command) }
}
