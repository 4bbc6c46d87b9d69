/// Decides whether a thread that flushes the journal commits by itself, or leaves that to the journal's queue.
///
/// A lone request is answered sooner if its own thread commits. Under load, the queue commits for many requests at once,
/// and threads go on meanwhile. A commit at once hides the load, because nothing gathers during it; so one of many is
/// left to the queue, which sees whether more than one record gathers.
struct CommitPace: Hashable, Sendable {
    /// The commits at once after which one is left to the queue.
    static let commitsAtOnce = 64
    /// The groups of one record after which the load is over.
    static let calmGroups = 16

    private var isCrowded = true
    private var commitsInARow = 0
    private var calm = 0

    /// Whether the thread that flushes should commit.
    mutating func takesTurn() -> Bool {
        guard !isCrowded, commitsInARow < Self.commitsAtOnce else {
            commitsInARow = 0
            return false
        }
        commitsInARow += 1
        return true
    }

    /// The queue has committed a group of so many records.
    mutating func noteGroup(of records: Int) {
        calm = records > 1 ? 0 : calm + 1
        if records > 1 { isCrowded = true } else if calm >= Self.calmGroups { isCrowded = false }
    }
}
