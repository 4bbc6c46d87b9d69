import Testing

@testable import ArbiterCore

/// A story in which named clients say something and hear something; for its language see Stories/README.md.
struct Story {
    private var arbiter = Arbiter()
    /// What each client has asked for last.
    private var owners: [String: Owner] = [:]
    private var names: [TransitionID: String] = [:]
    private var waiters: [WaiterID: String] = [:]
    private var sessions: [String: Session] = [:]
    /// How many events, and answers to parked requests, have been told.
    private var told = (events: 0, wakes: 0)

    struct Mistake: Error {
        let text: String
    }

    /// Says one line.
    ///
    /// - Returns: what is heard, a line each.
    /// - Throws: `Mistake` if the line is not of the language.
    mutating func say(_ line: String) throws -> [String] {
        let words = line.split(separator: " ").map(String.init)
        guard let first = words.first else { throw Mistake(text: "an empty line") }
        var heard: [String]
        do {
            heard = try answer(to: first, Array(words.dropFirst()))
        } catch let error as ArbiterError {
            heard = ["refused: \(text(of: error))"]
        }
        for waiter in arbiter.wakes[told.wakes...] {
            guard let name = waiters[waiter], let view = arbiter.answers[waiter] else { continue }
            heard.append("\(name): \(text(of: view))")
        }
        for event in arbiter.events[told.events...] { heard.append("* \(text(of: event))") }
        told = (arbiter.events.count, arbiter.wakes.count)
        return heard
    }

    private mutating func answer(to first: String, _ rest: [String]) throws -> [String] {
        switch first {
        case "pass":
            arbiter.advance(by: try seconds(rest.first))
            return []
        case "declare":
            try arbiter.declare(rest.joined(separator: " "))
            return [arbiter.outline]
        case "hierarchy":
            return [arbiter.outline]
        case "delete":
            try arbiter.delete(.main)
            return []
        case "segue":
            try arbiter.patch(StoryboardPatch(segues: [try segue(rest)]))
            return []
        case "restart":
            return try restart()
        default:
            guard let verb = rest.first else { throw Mistake(text: "\(first) says nothing") }
            return try clientSays(verb, first, Array(rest.dropFirst()))
        }
    }

    private mutating func clientSays(_ verb: String, _ name: String, _ arguments: [String]) throws -> [String] {
        switch verb {
        case "start":
            remember(try arbiter.start(arbiter.machine.named(request(of: name, arguments))), of: name)
            return view(of: name)
        case "serialize":
            let owner = try arbiter.serialize(
                arbiter.machine.named(request(of: name, arguments)), parked: arguments.contains("waits"))
            remember(owner, of: name)
            return owner.waiter.map { arbiter.stillParked.contains($0) } == true ? ["parked"] : view(of: name)
        case "end": return [text(of: try arbiter.end(owner(name), as: arguments.first.flatMap(EndOutcome.init)))]
        case "renew": return [text(of: try arbiter.renew(owner(name)))]
        case "progress":
            guard let fraction = arguments.first.flatMap(Double.init) else { throw Mistake(text: "progress of what?") }
            return [try arbiter.progress(owner(name), fraction) ? "applied" : "ignored"]
        case "release":
            let speed = try arguments.first.map { try pair($0).1 }.flatMap(Double.init)
            let view = try arbiter.release(owner(name), GestureRelease(completionSpeed: speed))
            let animation = view.transition.grant?.animation?.completed(by: view.transition.gesture)
            let left =
                animation.flatMap { view.transition.gesture?.remaining(of: $0) }
                .map { ", \($0.formatted) left" } ?? ""
            return [text(of: view) + left]
        case "awaits":
            waiters[try arbiter.park(on: owner(name), until: .ended)] = name
            return ["parked"]
        case "looks":
            return try arbiter.view(of: owner(name)).map { details(of: $0) } ?? ["nothing"]
        case "dies":
            if let waiter = owners[name]?.waiter { try arbiter.leave(waiter) }
            return []
        case "opens":
            sessions[name] = try arbiter.openSession(client: name, timeToLive: try seconds(arguments.last))
            return ["session"]
        case "closes":
            guard let session = sessions[name] else { throw Mistake(text: "\(name) has no session") }
            try arbiter.endSession(session)
            return []
        case "ready":
            guard let session = sessions[name], let asked = arguments.first else {
                throw Mistake(text: "\(name) has no session, or names nobody")
            }
            return [text(of: try arbiter.ready(owner(asked), client: name, session))]
        default: throw Mistake(text: "unknown verb \(verb)")
        }
    }

    private mutating func remember(_ owner: Owner, of name: String) {
        owners[name] = owner
        // A coalesced ticket keeps the name of its client all the same.
        names[owner.id] = name
        if let waiter = owner.waiter { waiters[waiter] = name }
    }

    private func owner(_ name: String) throws -> Owner {
        guard let owner = owners[name] else { throw Mistake(text: "\(name) has asked for nothing") }
        return owner
    }

    private func view(of name: String) -> [String] {
        owners[name].flatMap { arbiter.view(of: $0) }.map { [text(of: $0)] } ?? []
    }
}

// MARK: - What is asked

extension Story {
    private func request(of name: String, _ arguments: [String]) throws -> TransitionRequest {
        var request = TransitionRequest(client: ClientName(name), scope: .scene)
        for argument in arguments where argument != "waits" {
            let (key, value) = try pair(argument)
            switch key {
            case "locks": request.scope = .controllers(value.split(separator: ",").map { id(String($0)) })
            case "lease": request.lease = try seconds(value)
            case "ticket": request.ticket = try seconds(value)
            case "queue": request.queue = try seconds(value)
            case "key": request.coalescing = CoalescingKey(value).map { Coalescing(key: $0, keep: .latest) }
            case "with":
                request.participants = value.split(separator: ",").compactMap { ClientName(String($0)) }
                    .map { Participant(client: $0) }
            case "in":
                request.session = sessions[value]?.token
                request.client = nil
            case "hold": request.maxHold = try seconds(value)
            case "retry": request.idempotencyKey = IdempotencyKey(value)
            case "silent": request.onExpiry = value == "completes" ? .complete : .discard
            case "lasts": request.animation = AnimationRequest(duration: try seconds(value))
            case "expects":
                let parts = value.split(separator: ".").map(String.init)
                guard parts.count == 2, let condition = ArbiterCore.Expectation.Condition(rawValue: parts[1]) else {
                    throw Mistake(text: "\(value) is no expectation")
                }
                request.expectations.append(.controller(id(parts[0]), is: condition))
            case "drives": request.isInteractive = value == "yes"
            default:
                request.operation = try operation(key, value)
                request.scope = .operation
            }
        }
        return request
    }

    private func operation(_ verb: String, _ value: String) throws -> ArbiterCore.Operation {
        let parts = value.split(separator: "/").map(String.init)
        switch (verb, parts.count) {
        case ("push", 2): return .push(navigation: id(parts[0]), controller: try .outlined(parts[1]))
        case ("pop", 1): return .pop(navigation: id(parts[0]))
        case ("present", 2): return .present(presenter: id(parts[0]), controller: try .outlined(parts[1]))
        case ("dismiss", 1): return .dismiss(id(parts[0]))
        case ("select", 2):
            if let index = Int(parts[1]) { return .select(tabs: id(parts[0]), .index(index)) }
            return .select(tabs: id(parts[0]), .controller(id(parts[1])))
        case ("showDetail", 2): return .showDetail(split: id(parts[0]), controller: try .outlined(parts[1]))
        case ("setStack", 2):
            return .setStack(
                navigation: id(parts[0]),
                controllers: try parts[1].split(separator: ",").map { try .outlined(String($0)) })
        case ("setTabs", 2):
            return .setTabs(
                tabs: id(parts[0]), controllers: try parts[1].split(separator: ",").map { try .outlined(String($0)) },
                selected: nil)
        case ("setColumn", 3):
            return .setColumn(split: id(parts[0]), try column(parts[1]), controller: try .outlined(parts[2]))
        case ("setColumn", 2): return .setColumn(split: id(parts[0]), try column(parts[1]), controller: nil)
        case ("showColumn", 2): return .showColumn(split: id(parts[0]), try column(parts[1]))
        case ("collapse", 1): return .collapse(split: id(parts[0]))
        case ("collapse", 2): return .collapse(split: id(parts[0]), topColumn: try column(parts[1]))
        case ("expand", 1): return .expand(split: id(parts[0]))
        case ("segue", 2), ("segue", 3):
            guard let identifier = SegueIdentifier(parts[1]) else { throw Mistake(text: "\(parts[1]) is no segue") }
            let destination = parts.count == 3 ? try Hierarchy.outlined(parts[2]) : nil
            return .segue(source: id(parts[0]), identifier, destination: destination)
        default: throw Mistake(text: "unknown argument \(verb):\(value)")
        }
    }

    private func column(_ word: String) throws -> SplitColumn {
        guard let column = SplitColumn(rawValue: word) else { throw Mistake(text: "\(word) is no column") }
        return column
    }

    private func segue(_ words: [String]) throws -> StoryboardPatch.SegueChange {
        guard words.count >= 2, let identifier = SegueIdentifier(words[1]) else {
            throw Mistake(text: "a segue has a source and an identifier")
        }
        guard words.count == 4, let kind = Segue.Kind(rawValue: words[2]) else {
            return .remove(identifier, source: id(words[0]))
        }
        return .set(
            Segue(identifier: identifier, source: id(words[0]), kind: kind, destination: try .outlined(words[3])))
    }

    private func pair(_ argument: String) throws -> (String, String) {
        let parts = argument.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw Mistake(text: "\(argument) is no argument") }
        return (parts[0], parts[1])
    }

    private func seconds(_ text: String?) throws -> Duration {
        guard let text, text.hasSuffix("s"), let value = Double(text.dropLast()) else {
            throw Mistake(text: "\(text ?? "nothing") is no time")
        }
        return .seconds(value)
    }
}

// MARK: - Restarts

extension Story {
    /// The daemon starts again from its journal, and tells the numbered events again.
    private mutating func restart() throws -> [String] {
        let before = arbiter.events.filter { $0.number != nil }
        try arbiter.restart()
        let again = arbiter.replayed.filter { $0.number != nil }
        guard again.count == before.count else { throw Mistake(text: "\(again.count) of \(before.count) events") }
        let same = zip(before, again).count { $0.told == $1.told }
        return ["\(same) of \(before.count) events are the same"]
    }
}

extension SceneEvent {
    /// The event as streams tell it, without what only holds in the moment.
    fileprivate var told: SceneEvent {
        guard case .transition(let stage, let view) = kind else { return self }
        return SceneEvent(
            scene: scene, number: number, overall: overall, timestamp: timestamp,
            kind: .transition(stage, view.lasting))
    }
}

// MARK: - What is heard

extension Duration {
    fileprivate var formatted: String {
        "\(Double(wholeNanoseconds) / 1_000_000_000)s"
    }
}

extension Story {
    /// What its owner can see of a transition besides its state.
    private func details(of view: TransitionView) -> [String] {
        var lines = [text(of: view)]
        let transition = view.transition
        if let client = transition.request.client { lines.append("client: \(client)") }
        let left: [(String, Duration?)] = [
            ("lease", view.remaining.lease), ("ticket", view.remaining.ticket), ("queue", view.remaining.queue),
            ("participants", view.remaining.ready),
        ]
        for (name, time) in left { if let time { lines.append("\(name): \(time.formatted) left") } }
        if let waiting = view.waiting { lines.append("waiting: \(waiting)") }
        if let progress = view.progress { lines.append("finger: \(progress.fraction)") }
        for resolved in transition.grant?.resolved ?? [] {
            lines.append("became: \(resolved.operation.type?.rawValue ?? "")")
        }
        if let grant = transition.grant, grant.animation == nil, transition.request.operation != nil {
            lines.append("no animation")
        }
        return lines
    }

    private func name(of id: TransitionID) -> String { names[id] ?? "one that is not told yet" }

    private func text(of view: TransitionView) -> String {
        let transition = view.transition
        switch transition.phase {
        case .queued(let queued):
            let blockers = view.blockers.map { name(of: $0) }.joined(separator: ", ")
            let place = view.position.map { "queued at \($0)" } ?? "queued"
            return place + (blockers.isEmpty ? "" : " behind \(blockers)")
                + (queued.completesAtGrant ? ", completes at its turn" : "")
        case .preparing:
            let missing = transition.participants.filter(\.isMissing).map(\.client.description)
            return "preparing, waits for \(missing.joined(separator: ", "))"
        case .running(let grant): return "running, fence \(grant.fence.rawValue)"
        case .ended(let ending): return text(of: ending.outcome)
        }
    }

    private func text(of outcome: TransitionOutcome) -> String {
        switch outcome {
        case .completed: "completed"
        case .cancelled: "cancelled"
        case .expired(let reason): "expired (\(reason.rawValue))"
        case .rejected(let rejection): "rejected (\(rejection.reason))"
        case .superseded(let other): "superseded by \(name(of: other))"
        case .revoked(let revocation): "revoked (\(revocation.reason))"
        }
    }

    private func text(of event: SceneEvent) -> String {
        switch event.kind {
        case .transition(let stage, let view):
            let state = stage == .ended ? " \(text(of: view))" : ""
            return "\(name(of: view.transition.id)) \(stage.rawValue)\(state)"
        case .progress(let id, let progress): return "\(name(of: id)) at \(progress.fraction)"
        case .sessionEnded(_, let client, let ending):
            return "session of \(client?.description ?? "nobody") \(ending.rawValue)"
        case .appearance(let event, _): return "\(event.controller) \(event.change.rawValue)"
        case .hierarchyChanged(let news): return "revision \(news.revision.rawValue): \(arbiter.outline)"
        case .sceneDeleted: return "scene \(event.scene) deleted"
        }
    }

    private func text(of error: ArbiterError) -> String {
        switch error {
        case .busy(let busy): "busy, \(name(of: busy.holder.transition.id)) is in the way"
        case .alreadyEnded(let view): "it is \(text(of: view))"
        case .endedWithoutOwner(let view):
            "it is \(text(of: view)), and its operation was \(view.change == nil ? "not applied" : "applied")"
        case .expectationFailed(let failure): "expected otherwise: \(failure.actual)"
        case .inUse(_, let busy): "in use by \(name(of: busy.holder.transition.id))"
        case .alreadyDecided: "its gesture is decided"
        case .operationRefused(let refusal): refusal.detail
        case .notRunning(let view): "it is \(text(of: view))"
        case .unknownSession: "no such session"
        default: "\(error)"
        }
    }
}
