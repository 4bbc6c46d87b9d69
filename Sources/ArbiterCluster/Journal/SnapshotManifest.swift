package import ArbiterCore
package import ArbiterEngine

/// What a snapshot in etcd consists of: the form in one byte, the sequence and moment of its last record, the number and the
/// checksum of the bytes of the state, the number of the parts they are in, and the checksum of what is before.
package struct SnapshotManifest {
    private static let form: UInt8 = 1

    package let sequence: UInt64
    package let moment: Moment
    let byteCount: UInt64
    let checksum: UInt32
    package let chunkCount: UInt32

    /// - Parameters:
    ///   - snapshot: the snapshot.
    ///   - chunks: the number of its parts.
    package init(_ snapshot: JournalSnapshot, chunks: Int) {
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
        writer.write(Self.form)
        writer.write(sequence)
        writer.write(moment)
        writer.write(byteCount)
        writer.write(checksum)
        writer.write(chunkCount)
        writer.write(Checksum.crc32(writer.bytes))
        return writer.bytes
    }

    /// - Throws: `JournalError` if the key holds one of a newer form, or none.
    package init(in key: EtcdKey) throws(JournalError) {
        var reader = BinaryReader(key.value)
        guard let form = try? reader.read(UInt8.self), form > 0 else { throw LogValue.damaged(key.name) }
        guard form == Self.form else { throw JournalError(newer: "form \(form)", in: key.name) }
        guard let sequence = try? reader.read(UInt64.self), let moment = try? reader.read(Moment.self),
            let byteCount = try? reader.read(UInt64.self), let checksum = try? reader.read(UInt32.self),
            let chunkCount = try? reader.read(UInt32.self), let own = try? reader.read(UInt32.self), reader.isAtEnd,
            own == Checksum.crc32(Array(key.value.dropLast(MemoryLayout<UInt32>.size))),
            byteCount <= UInt64(chunkCount) * UInt64(SnapshotParts.bytesInChunk)
        else { throw LogValue.damaged(key.name) }
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
    init(_ snapshot: JournalSnapshot, of shard: Int, _ keys: ClusterKeys) {
        let count = (snapshot.state.count + Self.bytesInChunk - 1) / Self.bytesInChunk
        manifest = SnapshotManifest(snapshot, chunks: count).bytes
        puts = (0..<count).lazy.map { index in
            let part = snapshot.state.dropFirst(index * Self.bytesInChunk).prefix(Self.bytesInChunk)
            return .put(keys.chunk(index, of: shard, after: snapshot.sequence), Array(part))
        }
    }
}
