internal import ArbiterEngine

/// A file that a process has opened on a simulated disk.
final class SimulatedFile: StoredFile {
    private let number: Int
    private let process: Int
    private let name: String
    private let appends: Bool
    private let disk: SimulatedDisk

    init(_ number: Int, of process: Int, named name: String, appends: Bool, on disk: SimulatedDisk) {
        (self.number, self.process, self.name, self.appends, self.disk) = (number, process, name, appends, disk)
    }

    func size() throws(JournalError) -> Int { try perform(.size, "") { file, _, _ in file.seen.count } }

    func read(_ count: Int, at offset: Int) throws(JournalError) -> [UInt8] {
        try perform(.read, "") { file, _, _ in
            guard offset < file.seen.count else { return [] }
            return Array(file.seen[offset..<min(offset + count, file.seen.count)])
        }
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(JournalError) {
        let isWhole = try perform(.write, " \(bytes.count) at \(offset)") { file, state, extent in
            let offset = appends ? file.seen.count : offset
            var count = bytes.count
            if extent == .part { count = Int.random(in: 0...count, using: &state.chance) }
            let growth = max(0, offset + count - file.seen.count)
            let lacking = state.room.map { max(0, growth - max(0, $0)) } ?? 0
            if lacking > 0 {
                count = max(0, count - lacking)
                state.mishaps += 1
            }
            let before = file.seen.count
            if count > 0 { file.write(Array(bytes.prefix(count)), at: offset) }
            state.room? -= file.seen.count - before
            return lacking == 0
        }
        guard isWhole else { throw JournalError(reason: "there is no room on the simulated disk") }
    }

    func truncate(to size: Int) throws(JournalError) {
        try perform(.truncate, " to \(size)") { file, state, _ in
            state.room? += file.seen.count - size
            file.truncate(to: size)
        }
    }

    func synchronize() throws(JournalError) {
        try perform(.synchronize, "") { file, state, extent in
            switch extent {
            case .whole: file.synchronize()
            case .part: file.drop(&state.chance)
            }
        }
    }

    func isInPlace(as name: String, size: Int) -> Bool {
        let isThere = try? disk.state.withLock { state throws(JournalError) in
            // Nothing is refused here, because that would look like another file.
            guard state.plan?.trouble != .failure else { return isInPlace(as: name, size: size, state) }
            return try state.perform(.look, name) { state, _ in isInPlace(as: name, size: size, state) }
        }
        return isThere ?? false
    }

    private func isInPlace(as name: String, size: Int, _ state: SimulatedDisk.State) -> Bool {
        !state.isDead && state.process == process && state.names[name] == number
            && state.files[number]?.seen.count == size
    }

    func close() {}

    private func perform<Value: Sendable>(
        _ operation: SimulatedDisk.Operation, _ subject: String,
        _ body: (inout DiskSectors, inout SimulatedDisk.State, SimulatedDisk.State.Extent) -> Value
    ) throws(JournalError) -> Value {
        disk.interrupt()
        return try disk.state.withLock { state throws(JournalError) in
            guard state.process == process else { throw .ofDead }
            return try state.perform(operation, name + subject) { state, extent in
                // Taken out, so that its bytes are not copied.
                guard var file = state.files.removeValue(forKey: number) else {
                    preconditionFailure("\(operation) of \(name), which is nowhere")
                }
                defer { state.files[number] = file }
                return body(&file, &state, extent)
            }
        }
    }
}
