/// A call as a client saw it: when it was sent, when it was answered, and with what.
package struct ObservedCall: Hashable, Sendable {
    package enum Question: Hashable, Sendable {
        case start(key: String)
        case serialize(key: String)
        /// The owner's await.
        case await(id: String)
        case renew(id: String)
        case end(id: String, as: String)
        /// A request for the state: `GET /transitions/{id}`, or an entry of a list.
        case look(id: String)
    }

    package enum Answer: Hashable, Sendable {
        case transition(ObservedTransition)
        /// Refused with this code; the answer says nothing about a transition of the client.
        case refused(String)
    }

    package let scene: String
    package let question: Question
    /// Readings of one monotonic clock, in nanoseconds.
    package let sent: UInt64
    package let answered: UInt64
    /// `nil` if there was none: the call may or may not have taken effect.
    package let answer: Answer?

    package init(scene: String, question: Question, sent: UInt64, answered: UInt64, answer: Answer?) {
        self.scene = scene
        self.question = question
        self.sent = sent
        self.answered = answered
        self.answer = answer
    }
}

/// The state of a transition in an answer.
package struct ObservedTransition: Hashable, Sendable {
    package let id: String
    package let state: String
    package let token: String?
    package let fence: Int?
    /// The outcome with its reason, for example `expired/lease`.
    package let outcome: String?
    /// In nanoseconds.
    package let lease: UInt64

    package init(
        id: String, state: String, token: String? = nil, fence: Int? = nil, outcome: String? = nil,
        lease: UInt64 = 10_000_000_000
    ) {
        self.id = id
        self.state = state
        self.token = token
        self.fence = fence
        self.outcome = outcome
        self.lease = lease
    }

    /// The state in a body; `nil` if the body is not a transition.
    package init?(_ json: JSONValue) {
        guard let id = json["id"].string, let state = json["state"].string else { return nil }
        self.init(
            id: id, state: state, token: json["token"].string, fence: json["fence"].integer,
            outcome: json["outcome"].string.map { outcome in
                json["reason"].string.map { "\(outcome)/\($0)" } ?? outcome
            },
            lease: UInt64((json["leaseSeconds"].number ?? 10) * 1_000_000_000))
    }
}
