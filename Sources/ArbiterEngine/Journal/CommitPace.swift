/// Decides whether a thread that flushes the journal commits by itself, or leaves that to the journal's queue.
///
/// A lone request is answered sooner if its own thread commits. Under load, the queue commits for many requests at once,
/// and threads go on meanwhile. What shows the load is that several records arrive during a commit: one or two clients
/// send their next requests only after their answers. If a single thread serves all clients, nothing arrives while it
/// commits, so one of many commits is left to the queue.
struct CommitPace: Hashable, Sendable {
    /// The records that arrive during a commit under load, or more.
    static let crowd = 2
    /// The groups that a thread commits one after the other, so that its other connections do not wait long.
    static let groupsAtOnce = 4
    /// The commits in a row that threads make by themselves before one is left to the queue.
    static let commitsInARow = 64
    /// The commits in a row during which no crowd arrived, after which the load is over.
    static let calmCommits = 16

    private(set) var isCrowded = true
    private var ownCommits = 0
    private var calm = 0

    /// Whether the thread that flushes should commit.
    mutating func takesTurn() -> Bool {
        guard !isCrowded, ownCommits < Self.commitsInARow else {
            ownCommits = 0
            return false
        }
        ownCommits += 1
        return true
    }

    /// A commit has ended.
    ///
    /// - Parameter count: how many records have arrived meanwhile.
    mutating func noteCommit(followedBy count: Int) {
        let isFollowed = count >= Self.crowd
        calm = isFollowed ? 0 : calm + 1
        if isFollowed { isCrowded = true } else if calm >= Self.calmCommits { isCrowded = false }
    }
}
