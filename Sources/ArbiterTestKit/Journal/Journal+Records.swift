package import ArbiterEngine

extension Journal {
    /// Every committed record after the snapshot, oldest first.
    ///
    /// - Throws: `JournalError` if they cannot be read.
    package func records() throws(JournalError) -> [JournalRecord] { try contents().records }
}

extension JournalContents {
    /// The contents of a journal without a snapshot, which was closed.
    package init(records: [JournalRecord]) {
        self.init(snapshot: nil, records: records, ending: .closed)
    }
}
