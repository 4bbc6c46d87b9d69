/// One change of the durable state, as the journal keeps it.
///
/// A record contains ids, tokens and decisions. So the same records at the same moments give the same state, without a
/// clock or random numbers. Momentary events (a parked await, a renewed lease, a moved finger) have no record.
package enum Record: Hashable, Sendable {
    // MARK: Requests of clients

    /// A transition was granted at once.
    case start(TransitionRequest, id: TransitionID, token: Token)
    /// A transition was queued, granted at once or coalesced.
    case serialize(TransitionRequest, id: TransitionID, token: Token)
    /// The owner ended its transition; a queued one with `completed` ends at its grant.
    case end(TransitionID, token: Token, EndOutcome)
    /// An administrator ended a transition.
    case revoke(TransitionID, Revocation)
    /// The unfinished transitions of a scene were ended, or those of a client, or of a principal.
    case revokeAll(SceneName, client: ClientName?, ownedBy: PrincipalName?, Revocation)
    /// The owner changed how its transition is animated.
    case update(TransitionID, AnimationUpdate)
    /// The gesture that drives a transition was decided.
    case decide(TransitionID, DecidedGesture)
    /// A running transition was given its operation.
    case perform(TransitionID, Operation)
    /// A participant is gone, because its last session is ending.
    case markGone(TransitionID, client: ClientName)
    /// A participant became ready.
    case markReady(TransitionID, client: ClientName)
    case veto(TransitionID, by: ClientName, GivenReason?)
    /// A client was ready in a session, for all that it was asked there.
    case answerGuards(TransitionID, SessionID)
    /// A client wants to be asked before controllers are removed.
    case addGuard(SceneName, Guard)
    /// A guard was taken back, or its session is ending.
    case removeGuard(SceneName, GuardID)
    /// A session was opened.
    case openSession(
        client: ClientName?, timeToLive: Duration, id: SessionID, token: Token, by: Caller = .anyone)
    /// A session ended, and with it everything bound to it.
    case endSession(SessionID, SessionEnding)
    /// The storyboard of a scene was replaced.
    indirect case declare(SceneName, Storyboard)
    /// Segues, transition types or defaults of a scene were changed.
    indirect case patch(SceneName, StoryboardPatch)
    /// A scene was deleted by a client, or forgotten to make room.
    case delete(SceneName)

    // MARK: Decisions of the arbiter

    /// A transition expired.
    case expire(TransitionID, ExpiryReason)
    /// A grant was not claimed, and the tickets behind it expired with it because their owners were silent too.
    case expireUnclaimed([TransitionID])
    /// A ticket interrupted what is in its way, later than in the step of its request.
    case interrupt(TransitionID)
    /// The grace of an interrupted transition is over.
    case endInterrupted(TransitionID)
    /// The time that the participants had to become ready ran out.
    case timeOutParticipants(TransitionID)

    /// The arbiter goes on under the rules that this record was made under; and from now on the journal names what is
    /// forgotten, if the record does.
    case adopt(Retention?)

    // MARK: Restarts

    /// The journal may lack its last records: numbers jump. With `holdsGrants`, clients may still hold leases that the
    /// journal lost, and nothing is granted until `resume`.
    case distrust(holdsGrants: Bool)
    /// The process died without closing the journal: fences jump, in case the journal lost its end unnoticed.
    case skipFences
    /// Every lease that the journal may have lost has run out.
    case resume
    /// The daemon stopped; the arbiter's clock continues from this moment.
    case stop
}
