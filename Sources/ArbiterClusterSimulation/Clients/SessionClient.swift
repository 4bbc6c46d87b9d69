internal import ArbiterCore

/// A client with a session that is at home in one shard, and that it uses in another one too.
struct SessionClient {
    /// What it does with its session.
    struct Life {
        let session: Session
        /// When it ends.
        let until: Instant
        /// Whether it falls silent then, instead of ending the session.
        let fallsSilent: Bool
        /// How many of four words are said in the other shard.
        let wordsAway: Int
        /// Its transition in the other shard.
        var held: (id: TransitionID, token: Token)?
        /// The number of the call that opened its stream.
        var stream: Int?
        /// Whether it has given up a call for a stream, so that it may have only its grace, and asks for one first.
        var wantsStream = false
        /// A stream that it has given up, and closes once it has another.
        var lostStream: Int?
    }

    enum Phase {
        case closed
        case opening
        case living(Life)
        case ending(Life, tries: Int)
    }

    let name: String
    /// Where its session is at home, and where it uses it besides.
    let home: SceneName
    let away: SceneName
    var phase = Phase.closed
    var awaited = 0
    /// What the call asks for that it waits for.
    var asks = Asks.nothing

    enum Asks {
        case nothing
        case word
        case hold
        case stream
    }

    var life: Life? {
        switch phase {
        case .closed, .opening: nil
        case .living(let life), .ending(let life, _): life
        }
    }
}

/// A stream that keeps a session alive, and the nodes that it goes through.
struct OpenStream {
    let client: Int
    let session: SessionID
    let timeToLive: Duration
    let relays: [Process]
    let home: Process
    var missedComments = 0
}
