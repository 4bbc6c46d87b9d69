internal import ArbiterCore

/// A snapshot in a file: its head, then the bytes of the state.
struct SnapshotFile {
    private static let magic: [UInt8] = Array("arb-snap".utf8)
    private static let headBytes = 72

    let path: String
    /// Which journal it is of.
    let journal: UInt128
    private let file: any StoredFile
    let sequence: UInt64
    let moment: Moment
    /// The bytes of the state.
    let byteCount: Int
    private let checksum: UInt32

    /// Opens a snapshot and reads its head.
    ///
    /// - Parameters:
    ///   - sequence: the last record that it includes.
    ///   - storage: where it is.
    ///   - isFinished: whether it has its own name.
    /// - Throws: `JournalError` if there is none after this record, or if its head is wrong.
    init(_ sequence: UInt64, in storage: any JournalStorage, isFinished: Bool = true) throws(JournalError) {
        let finished = LogFormat.snapshot(sequence)
        let name = isFinished ? finished : LogFormat.unfinished(finished)
        path = "\(storage.path)/\(name)"
        self.sequence = sequence
        guard let file = try storage.open(name) else {
            throw JournalError(.vanished, reason: "\(path) has been moved or deleted")
        }
        self.file = file
        let bytes = try file.read(Self.headBytes, at: 0)
        guard bytes.count == Self.headBytes, bytes.starts(with: Self.magic) else {
            throw JournalError(damage: "it does not begin as a snapshot", in: path)
        }
        var reader = BinaryReader(Array(bytes.dropFirst(Self.magic.count)))
        let said: UInt64
        let sum: UInt32
        do {
            let form: UInt16 = try reader.read()
            guard form <= LogFormat.form else {
                throw JournalError(newer: "form \(form), known here is \(LogFormat.form)", in: path)
            }
            _ = try reader.read(UInt16.self)
            checksum = try reader.read()
            journal = try reader.read()
            said = try reader.read()
            byteCount = Int(clamping: try reader.read(UInt64.self))
            moment = try reader.read()
            sum = CRC32C.of(bytes.dropLast(MemoryLayout<UInt32>.size))
            var end = BinaryReader(Array(bytes.suffix(MemoryLayout<UInt32>.size)))
            guard try end.read(UInt32.self) == sum, form > 0, said == sequence else {
                throw JournalError(damage: "its head is not what was written", in: path)
            }
        } catch let error as JournalError {
            throw error
        } catch {
            throw JournalError(damage: "its head is not what was written", in: path)
        }
    }

    /// Reads the state as a whole.
    ///
    /// - Throws: `JournalError` if it is not what was written.
    func read() throws(JournalError) -> JournalSnapshot {
        try check()
        let state = try file.read(byteCount, at: Self.headBytes)
        return JournalSnapshot(sequence: sequence, moment: moment, state: state)
    }

    /// What reads the state piece by piece, of which `check` has been called.
    var reader: BinaryReader {
        BinaryReader { [file, byteCount] offset in
            let count = min(LogFormat.bytesAtOnce, byteCount - offset)
            return count > 0 ? (try? file.read(count, at: Self.headBytes + offset)) ?? [] : []
        }
    }

    /// Checks that the state is what was written; it is never in memory as a whole.
    ///
    /// - Throws: `JournalError` if it is not.
    func check() throws(JournalError) {
        guard try file.size() - Self.headBytes == byteCount else {
            throw JournalError(damage: "it has not the size that was written", in: path)
        }
        var sum = CRC32C()
        for start in stride(from: 0, to: byteCount, by: LogFormat.bytesAtOnce) {
            sum.add(try file.read(min(LogFormat.bytesAtOnce, byteCount - start), at: Self.headBytes + start))
        }
        guard sum.value == checksum else {
            throw JournalError(damage: "its state is not what was written", in: path)
        }
    }

    /// Whether a machine that was read from it would be written in the same way.
    func matches(_ machine: borrowing ArbiterStateMachine) -> Bool {
        let count = machine.snapshot { [file] piece, offset in
            (try? file.holds(piece[...], at: Self.headBytes + offset)) ?? false
        }
        return count == byteCount
    }
}

// MARK: - Writing

extension SnapshotFile {
    /// Writes a snapshot; no reader takes it in before it is whole and on the disk.
    ///
    /// - Throws: `JournalError` if it cannot be written.
    static func write(
        _ snapshot: JournalSnapshot, of journal: UInt128, to storage: any JournalStorage
    ) throws(JournalError) {
        try begin(snapshot.sequence, snapshot.moment, of: journal, in: storage) { take in
            for start in stride(from: 0, to: snapshot.state.count, by: LogFormat.bytesAtOnce) {
                let end = min(start + LogFormat.bytesAtOnce, snapshot.state.count)
                guard take(Array(snapshot.state[start..<end]), start) else { return nil }
            }
            return snapshot.state.count
        }
        try finish(snapshot.sequence, in: storage)
    }

    /// Writes a snapshot that no reader takes in yet, and has it on the disk.
    ///
    /// - Parameters:
    ///   - sequence: the last record that it includes.
    ///   - moment: the moment of that record.
    ///   - journal: which journal it is of.
    ///   - storage: where it goes.
    ///   - write: writes the state piece by piece, and returns how many bytes that was; `nil` if a piece was not taken.
    /// - Throws: `JournalError` if it cannot be written.
    static func begin(
        _ sequence: UInt64, _ moment: Moment, of journal: UInt128, in storage: any JournalStorage,
        _ write: (_ take: @escaping BinaryWriter.Sink) -> Int?
    ) throws(JournalError) {
        let unfinished = LogFormat.unfinished(LogFormat.snapshot(sequence))
        let file = try storage.create(unfinished, appends: false)
        defer { file.close() }
        do throws(JournalError) {
            try file.write([UInt8](repeating: 0, count: headBytes), at: 0)
            let progress = Guarded(Progress())
            let count = write { piece, offset in
                progress.withLock { progress in
                    progress.checksum.add(piece)
                    do throws(JournalError) {
                        try file.write(piece, at: headBytes + offset)
                    } catch {
                        progress.failure = error
                    }
                    return progress.failure == nil
                }
            }
            let (checksum, failure) = progress.withLock { ($0.checksum.value, $0.failure) }
            guard let count, failure == nil else {
                throw failure ?? JournalError(reason: "\(unfinished) was not written to its end")
            }
            try file.write(head(sequence, moment, of: journal, byteCount: count, checksum), at: 0)
            try file.synchronize()
        } catch {
            // What it takes is needed by others.
            try? storage.remove(unfinished)
            throw error
        }
    }

    private struct Progress {
        var checksum = CRC32C()
        var failure: JournalError?
    }

    /// Has readers take in a snapshot that was written.
    ///
    /// - Throws: `JournalError` if the disk refuses.
    static func finish(_ sequence: UInt64, in storage: any JournalStorage) throws(JournalError) {
        let name = LogFormat.snapshot(sequence)
        do throws(JournalError) {
            try storage.rename(LogFormat.unfinished(name), to: name)
        } catch {
            giveUp(sequence, in: storage)
            throw error
        }
        try storage.synchronize()
    }

    /// Removes a snapshot that no reader has taken in.
    static func giveUp(_ sequence: UInt64, in storage: any JournalStorage) {
        try? storage.remove(LogFormat.unfinished(LogFormat.snapshot(sequence)))
    }

    private static func head(
        _ sequence: UInt64, _ moment: Moment, of journal: UInt128, byteCount: Int, _ checksum: UInt32
    ) -> [UInt8] {
        var writer = BinaryWriter(capacity: headBytes)
        for byte in magic { writer.write(byte) }
        writer.write(LogFormat.form)
        writer.write(UInt16(0))
        writer.write(checksum)
        writer.write(journal)
        writer.write(sequence)
        writer.write(UInt64(byteCount))
        writer.write(moment)
        precondition(writer.bytes.count <= headBytes - MemoryLayout<UInt32>.size, "the head of a snapshot is too long")
        while writer.bytes.count < headBytes - MemoryLayout<UInt32>.size { writer.write(UInt8(0)) }
        writer.write(CRC32C.of(writer.bytes))
        return writer.bytes
    }
}
