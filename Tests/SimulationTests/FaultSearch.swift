import ArbiterClusterSimulation
import ArbiterSimulation
import Testing

/// What a simulation says when a rule is broken.
protocol FoundViolation: Error {
    associatedtype Rule: Hashable

    var rule: Rule { get }
    var transcript: [String] { get }
}

extension Violation: FoundViolation {}
extension ClusterViolation: FoundViolation {}
extension DiskViolation: FoundViolation {}

/// Expects that one of some seeds finds a planted fault.
///
/// The first that does has to find it by one of the rules that are there for it.
func expectFound<Found: FoundViolation>(
    _ fault: String, by rules: Set<Found.Rule>, at location: SourceLocation,
    simulating simulate: (_ seed: UInt64) throws(Found) -> Void
) {
    for seed in UInt64(1)...60 {
        do throws(Found) {
            try simulate(seed)
        } catch {
            #expect(rules.contains(error.rule), "seed \(seed): \(error)", sourceLocation: location)
            #expect(error.transcript.isEmpty == false, sourceLocation: location)
            return
        }
    }
    Issue.record("\(fault) is not found", sourceLocation: location)
}
