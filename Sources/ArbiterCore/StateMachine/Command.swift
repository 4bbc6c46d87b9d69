/// Everything that can happen to the arbiter.
///
/// Ids and tokens travel inside, so that the same commands in the same order give the same state.
package enum Command: Hashable, Sendable {
    // MARK: From clients

    /// Run now, or be refused.
    indirect case start(TransitionRequest, id: TransitionID, token: Token)
    /// Take a place in the queue; with `park`, the answer may wait for the grant.
    indirect case serialize(TransitionRequest, id: TransitionID, token: Token, park: Park?)
    /// Ask how a transition stands; with `park`, the answer may wait for `until`. A token makes it its owner's word.
    case await(TransitionID, token: Token?, until: Milestone, park: Park?)
    /// The owner's last word; without an outcome, what its gesture has decided, and else that it is completed.
    case end(TransitionID, token: Token, EndOutcome?)
    /// An administrator takes the transition from its owner.
    case revoke(TransitionID, RevocationReason)
    /// The owner is still there.
    case renew(TransitionID, token: Token)

    /// The finger that drives the transition has moved.
    case progress(TransitionID, token: Token, GestureProgress)
    /// The finger that drives the transition is gone.
    case release(TransitionID, token: Token, GestureRelease)
    /// A participant is ready, as its session says.
    case ready(TransitionID, client: ClientName, session: Token)
    /// A client shows that it lives, and will go on to.
    case openSession(client: ClientName?, timeToLive: Duration, id: SessionID, token: Token)
    /// The client lives.
    case renewSession(Token)
    /// The client takes its leave.
    case endSession(Token)
    /// A scene's hierarchy, segues, transition types and defaults are now these, if it has the revision or none is named.
    indirect case declare(SceneName, Storyboard, ifMatch: Revision?)
    /// Forget a scene and whatever was declared about it, if it has the revision or none is named.
    case delete(SceneName, ifMatch: Revision? = nil)

    // MARK: From the shell

    /// The connection of a parked await has closed.
    case leave(WaiterID)
    /// A connection is there that a session lives by.
    case attach(Token)
    /// A connection has closed that a session lived by.
    case detach(SessionID)
    /// Answer every parked await as it stands, and park no more.
    case drain

    // MARK: The arbiter's own decisions, said outright so that replay needs no clock

    /// Nobody looked after the transition.
    case expire(TransitionID, ExpiryReason)
    /// What a release came to.
    case decide(TransitionID, DecidedGesture)
    /// A participant is ready.
    case markReady(TransitionID, client: ClientName)
    /// The time of the participants is over.
    case settle(TransitionID)
    /// A session is over, and with it all that is bound to it.
    case closeSession(SessionID, SessionEnding)
    /// The machine died, and the last commands may be missing from the journal: fences jump, and where clients of then
    /// may still hold their leases nothing is granted until `resume`.
    case distrust(holdsGrants: Bool)
    /// The process died without closing the journal: fences jump, should the journal have lost its end unnoticed.
    case skipFences
    /// Every lease of before is over.
    case resume
    /// The wait of a parked await has run out.
    case answer(WaiterID)
}

extension Command {
    /// What of a command that changed the durable state is kept, unless it came to something that is said otherwise:
    /// whoever parks by it does so only now.
    var kept: Command {
        switch self {
        case .serialize(let request, let id, let token, _): .serialize(request, id: id, token: token, park: nil)
        case .declare(let scene, let storyboard, _): .declare(scene, storyboard, ifMatch: nil)
        case .delete(let scene, _): .delete(scene)
        case .start, .await, .end, .revoke, .renew, .progress, .release, .ready, .openSession, .renewSession,
            .endSession,
            .leave, .attach, .detach, .drain, .expire, .decide, .markReady, .settle, .closeSession, .distrust,
            .skipFences, .resume, .answer:
            self
        }
    }
}

/// How an await parks.
package struct Park: Hashable, Sendable {
    package let waiter: WaiterID
    /// The longest it stays parked, within `Limits.waitDurations`.
    package let wait: Duration

    package init(waiter: WaiterID, wait: Duration) {
        self.waiter = waiter
        self.wait = wait
    }
}
