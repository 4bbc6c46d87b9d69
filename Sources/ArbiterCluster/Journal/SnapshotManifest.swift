package import ArbiterCore
package import ArbiterEngine

/// What a snapshot in etcd consists of: the form in one byte, the sequence and moment of its last record, the number and the
/// checksum of the bytes of the state, and the number of the parts they are in.
package struct SnapshotManifest {
    private static let form: UInt8 = 1

    package let sequence: UInt64
    package let moment: Moment
    let byteCount: UInt64
    let checksum: UInt32
    package let chunkCount: UInt32

    init(_ snapshot: JournalSnapshot, chunks: Int) {
        (sequence, moment) = (snapshot.sequence, snapshot.moment)
        (byteCount, checksum) = (UInt64(snapshot.state.count), Checksum.crc32(snapshot.state))
        chunkCount = UInt32(chunks)
    }

    var bytes: [UInt8] {
        var writer = BinaryWriter()
        writer.write(Self.form)
        writer.write(sequence)
        writer.write(moment)
        writer.write(byteCount)
        writer.write(checksum)
        writer.write(chunkCount)
        return writer.bytes
    }

    /// - Throws: `JournalError` if the key holds one of a newer form, or none.
    package init(in key: EtcdKey) throws(JournalError) {
        var reader = BinaryReader(key.value)
        guard let form = try? reader.read(UInt8.self) else { throw LogValue.damaged(key.name) }
        guard form == Self.form else { throw JournalError(newer: "form \(form)", in: key.name) }
        guard let sequence = try? reader.read(UInt64.self), let moment = try? reader.read(Moment.self),
            let byteCount = try? reader.read(UInt64.self), let checksum = try? reader.read(UInt32.self),
            let chunkCount = try? reader.read(UInt32.self), reader.isAtEnd
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

    init(_ snapshot: JournalSnapshot, of shard: Int, _ keys: ClusterKeys) {
        let count = (snapshot.state.count + Self.bytesInChunk - 1) / Self.bytesInChunk
        manifest = SnapshotManifest(snapshot, chunks: count).bytes
        puts = (0..<count).lazy.map { index in
            let part = snapshot.state.dropFirst(index * Self.bytesInChunk).prefix(Self.bytesInChunk)
            return .put(keys.chunk(index, of: shard, after: snapshot.sequence), Array(part))
        }
    }
}
