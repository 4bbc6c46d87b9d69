package import ArbiterCore

/// The part of a transition that never changes; a class, because it is large and copied often.
package final class Asking {
    package let id: TransitionID
    package let token: Token
    package let request: TransitionRequest
    package let isSerialized: Bool

    package init(_ request: TransitionRequest, id: TransitionID, token: Token, isSerialized: Bool) {
        self.id = id
        self.token = token
        self.request = request
        self.isSerialized = isSerialized
    }
}
