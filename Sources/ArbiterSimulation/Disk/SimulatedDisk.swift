package import ArbiterEngine
internal import ArbiterTestKit

/// A disk with one directory: what processes see of it, and what survives the death of the machine.
///
/// What was written and not synchronized gets to the platter in sectors, each of them or not, and so do sizes and names.
/// The disk fails, and kills its process, where it was told to. The same seed and the same calls give the same contents.
package final class SimulatedDisk: JournalStorage {
    /// What a process asks of a disk.
    enum Operation: CaseIterable {
        case list, open, create, rename, remove, synchronizeNames
        case size, read, write, truncate, synchronize, look
    }

    /// What a planned operation does.
    package enum Trouble: Hashable, Sendable {
        /// It is the last of the process, and happens, or not, or in part.
        case death
        /// It is refused; of a write, a part may have happened.
        case failure
    }

    struct State {
        var chance: SplitMix64
        var files: [Int: DiskSectors] = [:]
        /// The numbers of the files that processes see.
        var names: [String: Int] = [:]
        /// The names on the platter.
        private var keptNames: [String: Int] = [:]
        /// What has happened to names and is not synchronized, oldest first.
        private var changes: [NameChange] = []
        private var lastNumber = 0
        /// Counts the processes; a file that was opened by an earlier one is of no use.
        var process = 0
        var isDead = false
        /// After how many more operations what happens.
        var plan: (operations: Int, trouble: Trouble)?
        /// How many bytes more there is room for; `nil` for enough.
        var room: Int?
        /// How often an operation has failed.
        var mishaps = 0
        /// What was done last, for people to read.
        var recent: [String] = []

        init(seed: UInt64) { chance = SplitMix64(seed: seed) }

        private enum NameChange {
            case named(String, Int)
            case renamed(String, String, Int)
            case removed(String)
        }
    }

    package let path = "disk"
    let state: Guarded<State>
    /// What is called before each operation of a compaction.
    private let interruption = Guarded(Interruption())

    package init(seed: UInt64) {
        state = Guarded(State(seed: seed))
    }

    /// Sets what is called before each operation of a compaction, on its thread.
    func interruptCompactions(_ call: @escaping @Sendable () -> Void) { interruption.withLock { $0.call = call } }

    func interrupt() {
        guard LogJournal.isCompacting else { return }
        interruption.withLock { $0 }.call()
    }

    private struct Interruption {
        var call: @Sendable () -> Void = {}
    }

    package func names() throws(JournalError) -> [String] {
        interrupt()
        return try state.withLock { state throws(JournalError) in
            try state.perform(.list, "") { state, _ in state.names.keys.sorted() }
        }
    }

    package func open(_ name: String) throws(JournalError) -> (any StoredFile)? {
        interrupt()
        let (number, process) = try state.withLock { state throws(JournalError) in
            (try state.perform(.open, name) { state, _ in state.names[name] }, state.process)
        }
        return number.map { SimulatedFile($0, of: process, named: name, appends: false, on: self) }
    }

    package func create(_ name: String, appends: Bool) throws(JournalError) -> any StoredFile {
        interrupt()
        let (number, process) = try state.withLock { state throws(JournalError) in
            (try state.perform(.create, name) { state, _ in state.create(name) }, state.process)
        }
        return SimulatedFile(number, of: process, named: name, appends: appends, on: self)
    }

    package func rename(_ name: String, to other: String) throws(JournalError) {
        interrupt()
        let isThere = try state.withLock { state throws(JournalError) in
            try state.perform(.rename, "\(name) to \(other)") { state, _ in state.rename(name, to: other) }
        }
        guard isThere else { throw JournalError(reason: "there is no \(name)") }
    }

    package func remove(_ name: String) throws(JournalError) {
        interrupt()
        try state.withLock { state throws(JournalError) in
            try state.perform(.remove, name) { state, _ in state.remove(name) }
        }
    }

    package func synchronize() throws(JournalError) {
        interrupt()
        try state.withLock { state throws(JournalError) in
            try state.perform(.synchronizeNames, "") { state, _ in state.synchronizeNames() }
        }
    }
}

// MARK: - Operations

extension SimulatedDisk.State {
    /// How much of an operation happens.
    enum Extent {
        case whole
        case part
    }

    /// Performs an operation, with the trouble that it has.
    ///
    /// - Parameters:
    ///   - operation: what is asked.
    ///   - subject: of what, for people to read.
    ///   - body: does as much of it as it is told.
    /// - Returns: what the body returns.
    /// - Throws: `JournalError` if it is refused, or if the process is dead.
    mutating func perform<Value: Sendable>(
        _ operation: SimulatedDisk.Operation, _ subject: String, _ body: (inout Self, Extent) -> Value
    ) throws(JournalError) -> Value {
        guard !isDead else { throw .ofDead }
        guard let trouble = troubleNow() else {
            note(operation, subject, "")
            return body(&self, .whole)
        }
        note(operation, subject, " (\(trouble))")
        switch trouble {
        case .death:
            isDead = true
            switch Int.random(in: 0..<3, using: &chance) {
            case 0: _ = body(&self, .whole)
            case 1 where operation == .write: _ = body(&self, .part)
            default: break
            }
            throw .ofDead
        case .failure:
            mishaps += 1
            switch operation {
            case .write, .synchronize: _ = body(&self, .part)
            case .list, .open, .create, .rename, .remove, .synchronizeNames, .size, .read, .truncate, .look: break
            }
            throw JournalError(reason: "the simulated disk refuses: \(operation) \(subject)")
        }
    }

    private mutating func troubleNow() -> SimulatedDisk.Trouble? {
        guard let plan else { return nil }
        guard plan.operations <= 1 else {
            self.plan?.operations -= 1
            return nil
        }
        self.plan = nil
        return plan.trouble
    }

    private mutating func note(_ operation: SimulatedDisk.Operation, _ subject: String, _ more: String) {
        switch operation {
        case .list, .open, .size, .read, .look: if more.isEmpty { return }
        case .create, .rename, .remove, .synchronizeNames, .write, .truncate, .synchronize: break
        }
        recent.append("\(operation) \(subject)\(more)")
        if recent.count > 60 { recent.removeFirst(30) }
    }

    fileprivate mutating func create(_ name: String) -> Int {
        remove(name)
        lastNumber += 1
        (files[lastNumber], names[name]) = (DiskSectors(), lastNumber)
        changes.append(.named(name, lastNumber))
        return lastNumber
    }

    fileprivate mutating func rename(_ name: String, to other: String) -> Bool {
        guard let number = names.removeValue(forKey: name) else { return false }
        let replaced = names.updateValue(number, forKey: other)
        giveBack(replaced)
        changes.append(.renamed(name, other, number))
        return true
    }

    fileprivate mutating func remove(_ name: String) {
        guard let number = names.removeValue(forKey: name) else { return }
        giveBack(number)
        changes.append(.removed(name))
    }

    /// The room of a file that has lost its name is free again.
    private mutating func giveBack(_ number: Int?) {
        guard let number, let size = files[number]?.seen.count else { return }
        room? += size
    }

    fileprivate mutating func synchronizeNames() {
        (keptNames, changes) = (names, [])
    }
}

// MARK: - The death of the machine

extension SimulatedDisk.State {
    /// Loses what is not on the platter, or not all of it.
    mutating func loseWhatIsNotKept() {
        for change in changes where !chance.isOnce(in: 2) {
            switch change {
            case .named(let name, let number): keptNames[name] = number
            case .removed(let name): keptNames[name] = nil
            case .renamed(let name, let other, let number):
                keptNames[other] = number
                if keptNames[name] == number { keptNames[name] = nil }
            }
        }
        (names, changes) = (keptNames, [])
        removeNameless()
        for number in files.keys.sorted() { files[number]?.lose(&chance) }
    }

    /// Removes the files that nothing can lead to any more.
    mutating func removeNameless() {
        guard changes.isEmpty else { return }
        let named = Set(names.values).union(keptNames.values)
        files = files.filter { named.contains($0.key) }
    }
}

extension JournalError {
    /// The process that asks has been killed.
    static let ofDead = JournalError(reason: "the process is dead")
}
