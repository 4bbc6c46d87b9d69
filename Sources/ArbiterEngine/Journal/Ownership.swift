/// Shows that no other process has taken over the journal, where one may: an answer leaves only once that is known.
///
/// A commit shows it for what was computed before it was sent, and so does a question to where ownership is decided. The
/// engine numbers its turns, and says when each of them has ended.
package protocol Ownership: Sendable {
    /// Sets what is called with the number of a turn up to which all answers may leave.
    func begin(_ shown: @escaping @Sendable (UInt64) -> Void)

    /// Notes that a turn has ended; called in the order of the turns, and must not take long.
    func note(_ turn: UInt64)

    /// Has it shown for all turns so far, soon and on another thread.
    func prove()
}
