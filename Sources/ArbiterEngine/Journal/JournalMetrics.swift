/// What a journal counts.
package struct JournalMetrics: Sendable {
    /// How long commits took.
    package let commits = Histogram.ofDurations()
    /// How many records they had.
    package let groups = Histogram.ofCounts(upTo: 4096)
    /// The bytes of the records that were committed.
    package let bytes = Counter()
    package let compactions = Counter()
    package let failedCompactions = Counter()
    /// How often the journal could not be written.
    package let failures = Counter()

    package init() {}
}
