import ArbiterCore
import ArbiterEngine
import Testing

/// The answers to requests, each under a label, in the order in which they came.
final class Answers: Sendable {
    typealias Answer = Result<TransitionView, EngineError>

    private let said = Guarded([(label: String, answer: Answer)]())

    /// A completion that records its answer under a label.
    func note(_ label: String) -> Engine.Completion {
        { answer in self.said.withLock { $0.append((label, answer)) } }
    }

    /// The labels of all answers, in order.
    var labels: [String] { said.withLock { $0.map(\.label) } }

    /// All answers with a label.
    subscript(label: String) -> [Answer] { said.withLock { $0.filter { $0.label == label }.map(\.answer) } }

    /// The only answer with a label, which is a transition.
    func view(_ label: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> TransitionView {
        let answers = self[label]
        try #require(answers.count == 1, "\(label) was answered \(answers)", sourceLocation: sourceLocation)
        return try answers[0].get()
    }

    /// The only answer with a label, which is a refusal.
    func refusal(_ label: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> EngineError {
        let answers = self[label]
        try #require(answers.count == 1, "\(label) was answered \(answers)", sourceLocation: sourceLocation)
        switch answers[0] {
        case .success(let view):
            Issue.record("\(label) was answered with \(view)", sourceLocation: sourceLocation)
            throw UnexpectedAnswer()
        case .failure(let error):
            return error
        }
    }

    struct UnexpectedAnswer: Error {}
}

extension TransitionView {
    var id: TransitionID { transition.id }
    var token: Token { transition.token }
    var state: TransitionState { transition.state }

    var fence: UInt64? { transition.grant?.fence.rawValue }

    var outcome: TransitionOutcome? {
        if case .ended(let ending) = transition.phase { ending.outcome } else { nil }
    }
}
