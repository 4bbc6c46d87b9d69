package import ArbiterCore

/// A request as the shell has it, which does what the relay says.
package protocol RelayedRequest: AnyObject, Sendable {
    /// Whose request it is, and whether the client is there.
    var asker: Asker { get }

    /// Asks its endpoint, which answers now or later.
    ///
    /// - Parameter mayNeedGuest: whether its session may still have to become a guest.
    /// - Returns: why it cannot be carried out here and now; `nil` if it is answered, or will be.
    func carryOut(mayNeedGuest: Bool) -> Misplaced?

    /// What passes it on to another node, once that is begun.
    func forwarding(to owner: ClusterMap.Owner, _ elsewhere: Elsewhere) -> any Forwarding

    /// Answers that it is not carried out.
    func refuse(_ refusal: RelayRefusal)

    /// Says what to do if its client leaves before it is answered, instead of what was said before.
    func whenAbandoned(_ action: @escaping @Sendable () -> Void)
}

/// A request on its way to another node and back.
package protocol Forwarding: Sendable {
    /// Asks the other node.
    ///
    /// - Parameter ended: called once, when nothing is under way any more.
    func begin(_ ended: @escaping @Sendable (ForwardingEnd) -> Void)

    /// Stops asking, because the shard has another owner.
    ///
    /// A request that only reads, and whose answer has not begun, ends as untouched then: it has changed nothing.
    func endBecauseMoved()
}

/// How a request has ended that was passed on.
package enum ForwardingEnd: Hashable, Sendable {
    /// The client is answered, with what the other node has said or with what went wrong.
    case answered
    /// It is certain that nothing of it was carried out; the client is not answered.
    case untouched(reason: String)
}
