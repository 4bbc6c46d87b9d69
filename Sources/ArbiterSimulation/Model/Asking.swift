internal import ArbiterCore

/// What was asked for; kept apart because it never changes and is large.
final class Asking {
    let id: TransitionID
    let token: Token
    let request: TransitionRequest
    let isSerialized: Bool

    init(_ request: TransitionRequest, id: TransitionID, token: Token, isSerialized: Bool) {
        self.id = id
        self.token = token
        self.request = request
        self.isSerialized = isSerialized
    }
}
