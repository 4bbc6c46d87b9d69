package import ArbiterEngine

extension Journal {
    /// Every committed record after the snapshot, oldest first.
    ///
    /// - Throws: `JournalError` if they cannot be read.
    package func records() throws(JournalError) -> [JournalEntry] { try contents().records }

    /// Appends an entry and flushes the journal, as an engine does with the entries of a turn.
    package func commit(_ entry: JournalEntry) {
        _ = append(entry)
        flush()
    }
}

extension JournalContents {
    /// The contents of a journal without a snapshot, which was closed.
    package init(records: [JournalEntry]) {
        self.init(snapshot: nil, records: records, ending: .closed)
    }
}
