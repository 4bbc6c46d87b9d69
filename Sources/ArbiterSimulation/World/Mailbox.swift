internal import ArbiterCore
internal import ArbiterEngine

/// The answers, events and notices of the engine, in order, until the simulation takes them.
final class Mailbox: Sendable {
    enum Message: Sendable {
        /// The answer to the ask of a number.
        case answer(Int, Reply)
        case events([SceneEvent])
        case notice(EngineNotice)
        /// The journal was opened again; with the newest events.
        case resumed(scenes: [SceneName: EventNumber], overall: EventNumber)
        case lost(JournalError)
    }

    private let messages = Guarded<[Message]>([])

    func post(_ message: Message) {
        messages.withLock { $0.append(message) }
    }

    func takeAll() -> [Message] {
        messages.withLock { messages in
            guard !messages.isEmpty else { return [] }
            defer { messages = [] }
            return messages
        }
    }
}

/// An answer to a client.
enum Reply: Sendable {
    case transition(TransitionView)
    case progress(ProgressAnswer)
    case performed(PerformAnswer)
    case session(SessionView)
    case attached(Engine.Attachment)
    case declared(StoryboardVersion)
    case done
    case guarding(Guard)
    case revoked([TransitionID])
    case dryRun(DryRun)
    case idleness(IdleView)
    case refused(ArbiterError)
    case unavailable(JournalError)
}

extension Mailbox {
    /// A completion that posts its result under a number.
    func answer<Value>(
        _ number: Int, _ reply: @escaping @Sendable (Value) -> Reply
    ) -> @Sendable (Result<Value, EngineError>) -> Void {
        { [self] result in
            switch result {
            case .success(let value): post(.answer(number, reply(value)))
            case .failure(.refused(let error)): post(.answer(number, .refused(error)))
            case .failure(.journalUnavailable(let error)), .failure(.notOwner(let error)):
                post(.answer(number, .unavailable(error)))
            }
        }
    }
}
