/// What the engine and its journal count.
package struct EngineMetrics: Sendable {
    /// From the turn that grants a transition to the answer of the request that is parked for it.
    package let handOvers = Histogram.ofDurations()
    package let journal = JournalMetrics()

    package init() {}
}
