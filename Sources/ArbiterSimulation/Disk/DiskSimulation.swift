internal import ArbiterEngine
internal import ArbiterTestKit
internal import Logging

/// The lives of a journal in files, process after process, on a simulated disk.
///
/// The journal is the real one. Each step waits until it is idle, so the same seed gives the same history.
package struct DiskSimulation {
    package let seed: UInt64
    package internal(set) var statistics = DiskStatistics()
    let fault: DiskFault
    let disk: SimulatedDisk
    var chance: SplitMix64
    var life = DiskLife()
    /// The process that writes the journal; `nil` while there is none.
    var writer: DiskWriter?
    var facts = DiskFacts()
    var digest = Digest()
    private var stepCount = 0
    private var transcript: [String] = []

    /// - Parameters:
    ///   - seed: decides everything.
    ///   - fault: what is wrong with the journal.
    package init(seed: UInt64, fault: DiskFault = .none) {
        (self.seed, self.fault) = (seed, fault)
        chance = SplitMix64(seed: seed)
        disk = SimulatedDisk(seed: chance.next())
        facts.boot = UInt128(chance.next())
        facts.mostly = chance.isOnce(in: 2) ? .power : .crash
    }

    /// A digest of the history, to compare two runs.
    package var history: UInt64 { digest.value }

    /// Runs a number of steps.
    ///
    /// - Throws: `DiskViolation` at the first step that breaks a promise.
    package mutating func run(steps: Int) throws(DiskViolation) {
        for _ in 0..<steps { try step() }
    }

    /// Runs one step, and checks everything after it.
    ///
    /// - Throws: `DiskViolation` if it breaks a promise.
    package mutating func step() throws(DiskViolation) {
        stepCount += 1
        statistics.count(.steps)
        do throws(BrokenPromise) {
            if writer == nil { try start() } else { try act() }
        } catch {
            throw DiskViolation(
                seed: seed, step: stepCount, rule: error.rule, what: error.what, transcript: transcript + disk.recent)
        }
        digest.mix(UInt64(life.last), UInt64(facts.told), UInt64(disk.mishaps), writer == nil ? 0 : 1)
    }

    mutating func note(_ what: String) {
        transcript.append("\(stepCount): \(what)")
        if transcript.count > 60 { transcript.removeFirst(30) }
    }

    static var silentLogger: Logger { Logger(label: "simulated") { _ in SwiftLogNoOpLogHandler() } }
}

/// What a simulation knows of a journal.
struct DiskFacts {
    /// The durability of most processes.
    var mostly = LogJournal.Durability.crash
    /// The boot of the machine.
    var boot: UInt128 = 0
    /// The last record that was reported as committed.
    var told = 0
    /// The last record that the last start has found.
    var found = 0
    /// The last record that has to survive the machine.
    var safe = 0
    /// The durability of the newest log; `nil` while it may be one or the other.
    var durability: LogJournal.Durability?
    /// The machine has died since a log was begun.
    var hasMachineDied = false
    /// The bit that has flipped since the last start.
    var flipped: FlippedBit?
    /// A start has accepted a journal with a flipped bit, and no log was begun since.
    var isFlipAccepted = false
    /// Where records may be missing, as a start has found; `nil` when a log was begun behind that.
    var suspected: Int?
    /// The journal has been closed, or nearly, and nothing was committed since.
    var mayBeClosed = true
    /// The state that the last start has found in a snapshot.
    var replay = JournalReplay()
    /// It was closed without any trouble, and nothing was appended since.
    var isClosed = false

    /// Whether something may differ from what was written.
    var hasFlipped: Bool { flipped != nil || isFlipAccepted }
}

/// A process that writes the journal.
struct DiskWriter {
    let journal: LogJournal
    let durability: LogJournal.Durability
    let reports: DiskReports
    let metrics: JournalMetrics
    /// The failures of the disk before it.
    let mishaps: Int
    /// The last record of its first group; `nil` before that.
    var firstGroup: Int?
    /// Whether its first group is committed.
    var hasBegun = false
}

/// What a journal has reported, on any thread.
final class DiskReports: Sendable {
    private struct State {
        var committed = 0
        var groups = 0
        var failure: JournalError?
        /// The records that are appended in the middle of something.
        var interlude: [JournalEntry] = []
        /// After how many calls that happens.
        var calls = 0
    }

    private let state = Guarded(State())

    var committed: Int { state.withLock { $0.committed } }
    var groups: Int { state.withLock { $0.groups } }
    var failure: JournalError? { state.withLock { $0.failure } }
    /// Whether there are records that were not appended.
    var hasInterlude: Bool { state.withLock { !$0.interlude.isEmpty } }

    func hear(_ result: Result<UInt64, JournalError>) {
        state.withLock { state in
            switch result {
            case .success(let last):
                state.committed = Int(last)
                state.groups += 1
            case .failure(let error): state.failure = error
            }
        }
    }

    /// Sets what is appended at one of the next calls.
    func plan(_ interlude: [JournalEntry], at calls: Int) {
        state.withLock { ($0.interlude, $0.calls) = (interlude, calls) }
    }

    /// What is to be appended now.
    func next() -> [JournalEntry] {
        state.withLock { state in
            state.calls -= 1
            guard state.calls == 0 else { return [] }
            defer { state.interlude = [] }
            return state.interlude
        }
    }
}
