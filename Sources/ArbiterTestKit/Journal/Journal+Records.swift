package import ArbiterEngine

extension Journal {
    /// Every committed record after the snapshot, oldest first.
    ///
    /// - Throws: `JournalError` if they cannot be read.
    package func records() throws(JournalError) -> [JournalEntry] { try contents().records }
}

extension JournalContents {
    /// The contents of a journal without a snapshot, which was closed.
    package init(records: [JournalEntry]) {
        self.init(snapshot: nil, records: records, ending: .closed)
    }
}
