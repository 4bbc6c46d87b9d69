package import ArbiterCore
package import ArbiterEngine

/// What a snapshot in etcd consists of: the form in one byte, the sequence and moment of its last record, the number and the
/// checksum of the bytes of the state, and the number of the parts they are in; in the second form also the checksum of what
/// is before.
package struct SnapshotManifest {
    private enum Form: UInt8 {
        case first = 1
        /// With a checksum of its own. Written under rules whose nodes all know it.
        case second
    }

    private let form: Form
    package let sequence: UInt64
    package let moment: Moment
    let byteCount: UInt64
    let checksum: UInt32
    package let chunkCount: UInt32

    /// - Parameters:
    ///   - snapshot: the snapshot.
    ///   - chunks: the number of its parts.
    ///   - isChecked: whether the manifest has a checksum of its own.
    package init(_ snapshot: JournalSnapshot, chunks: Int, isChecked: Bool) {
        form = isChecked ? .second : .first
        (sequence, moment) = (snapshot.sequence, snapshot.moment)
        (byteCount, checksum) = (UInt64(snapshot.state.count), Checksum.crc32(snapshot.state))
        chunkCount = UInt32(chunks)
    }

    /// The bytes of a state, if they are those of this snapshot.
    package func snapshot(of state: [UInt8]) -> JournalSnapshot? {
        guard state.count == byteCount, Checksum.crc32(state) == checksum else { return nil }
        return JournalSnapshot(sequence: sequence, moment: moment, state: state)
    }

    /// The value of its key.
    package var bytes: [UInt8] {
        var writer = BinaryWriter()
        writer.write(form.rawValue)
        writer.write(sequence)
        writer.write(moment)
        writer.write(byteCount)
        writer.write(checksum)
        writer.write(chunkCount)
        if form == .second { writer.write(Checksum.crc32(writer.bytes)) }
        return writer.bytes
    }

    /// - Throws: `JournalError` if the key holds one of a newer form, or none.
    package init(in key: EtcdKey) throws(JournalError) {
        var reader = BinaryReader(key.value)
        guard let number = try? reader.read(UInt8.self) else { throw LogValue.damaged(key.name) }
        guard let form = Form(rawValue: number) else { throw JournalError(newer: "form \(number)", in: key.name) }
        var value = key.value[...]
        if form == .second {
            value = value.dropLast(MemoryLayout<UInt32>.size)
            var end = BinaryReader(Array(key.value.dropFirst(value.count)))
            guard let checksum = try? end.read(UInt32.self), checksum == Checksum.crc32(Array(value)) else {
                throw LogValue.damaged(key.name)
            }
            reader = BinaryReader(Array(value))
            _ = try? reader.read(UInt8.self)
        }
        guard let sequence = try? reader.read(UInt64.self), let moment = try? reader.read(Moment.self),
            let byteCount = try? reader.read(UInt64.self), let checksum = try? reader.read(UInt32.self),
            let chunkCount = try? reader.read(UInt32.self), reader.isAtEnd,
            byteCount <= UInt64(chunkCount) * UInt64(SnapshotParts.bytesInChunk)
        else { throw LogValue.damaged(key.name) }
        self.form = form
        (self.sequence, self.moment, self.byteCount) = (sequence, moment, byteCount)
        (self.checksum, self.chunkCount) = (checksum, chunkCount)
    }
}

/// A snapshot as etcd keeps it: parts, and the manifest that makes them the newest snapshot.
struct SnapshotParts {
    /// The bytes of a part.
    static let bytesInChunk = 512 << 10

    /// Each puts one part; made when it is asked for.
    let puts: LazyMapSequence<Range<Int>, EtcdOperation>
    let manifest: [UInt8]

    /// - Parameters:
    ///   - snapshot: the snapshot.
    ///   - shard: the index of its shard.
    ///   - keys: where the cluster is.
    ///   - isChecked: whether the manifest has a checksum of its own.
    init(_ snapshot: JournalSnapshot, of shard: Int, _ keys: ClusterKeys, isChecked: Bool) {
        let count = (snapshot.state.count + Self.bytesInChunk - 1) / Self.bytesInChunk
        manifest = SnapshotManifest(snapshot, chunks: count, isChecked: isChecked).bytes
        puts = (0..<count).lazy.map { index in
            let part = snapshot.state.dropFirst(index * Self.bytesInChunk).prefix(Self.bytesInChunk)
            return .put(keys.chunk(index, of: shard, after: snapshot.sequence), Array(part))
        }
    }
}
