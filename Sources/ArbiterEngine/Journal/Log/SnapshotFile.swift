internal import ArbiterCore

/// A snapshot in a file: its head, then the bytes of the state.
struct SnapshotFile {
    private static let magic: [UInt8] = Array("arb-snap".utf8)
    private static let headBytes = 72

    let path: String
    /// Which journal it is of.
    let journal: UInt128
    private let file: any StoredFile
    private let sequence: UInt64
    private let moment: Moment
    /// The bytes of the state.
    let byteCount: Int
    private let checksum: UInt32

    /// Opens a snapshot and reads its head.
    ///
    /// - Throws: `JournalError` if there is none after this record, or if its head is wrong.
    init(_ sequence: UInt64, in storage: any JournalStorage) throws(JournalError) {
        let name = LogFormat.snapshot(sequence)
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

    /// Reads the state.
    ///
    /// - Throws: `JournalError` if it is not what was written.
    func read() throws(JournalError) -> JournalSnapshot {
        guard try file.size() - Self.headBytes == byteCount else {
            throw JournalError(damage: "it has not the size that was written", in: path)
        }
        let state = try file.read(byteCount, at: Self.headBytes)
        guard state.count == byteCount, CRC32C.of(state) == checksum else {
            throw JournalError(damage: "its state is not what was written", in: path)
        }
        return JournalSnapshot(sequence: sequence, moment: moment, state: state)
    }

    /// Writes a snapshot; no reader takes it in before it is whole and on the disk.
    ///
    /// - Throws: `JournalError` if it cannot be written.
    static func write(
        _ snapshot: JournalSnapshot, of journal: UInt128, to storage: any JournalStorage
    ) throws(JournalError) {
        let name = LogFormat.snapshot(snapshot.sequence)
        let unfinished = LogFormat.unfinished(name)
        let file = try storage.create(unfinished, appends: false)
        defer { file.close() }
        do throws(JournalError) {
            try file.write(head(of: snapshot, journal), at: 0)
            for start in stride(from: 0, to: snapshot.state.count, by: LogFormat.bytesAtOnce) {
                let piece = snapshot.state[start..<min(start + LogFormat.bytesAtOnce, snapshot.state.count)]
                try file.write(Array(piece), at: headBytes + start)
            }
            try file.synchronize()
            try storage.rename(unfinished, to: name)
        } catch {
            // What it takes is needed by others.
            try? storage.remove(unfinished)
            throw error
        }
        try storage.synchronize()
    }

    private static func head(of snapshot: JournalSnapshot, _ journal: UInt128) -> [UInt8] {
        var writer = BinaryWriter(capacity: headBytes)
        for byte in magic { writer.write(byte) }
        writer.write(LogFormat.form)
        writer.write(UInt16(0))
        writer.write(CRC32C.of(snapshot.state))
        writer.write(journal)
        writer.write(snapshot.sequence)
        writer.write(UInt64(snapshot.state.count))
        writer.write(snapshot.moment)
        precondition(writer.bytes.count <= headBytes - MemoryLayout<UInt32>.size, "the head of a snapshot is too long")
        while writer.bytes.count < headBytes - MemoryLayout<UInt32>.size { writer.write(UInt8(0)) }
        writer.write(CRC32C.of(writer.bytes))
        return writer.bytes
    }
}
