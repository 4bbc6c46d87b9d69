internal import ArbiterCore
package import ArbiterEngine

/// A group of records as etcd keeps it: the form in one byte, the first and the last sequence, the checksum, and the bytes of
/// the group.
package struct LogValue {
    private static let form: UInt8 = 1

    let bytes: [UInt8]

    init(_ batch: RecordBatch) {
        var writer = BinaryWriter(capacity: batch.bytes.count + 32)
        writer.write(Self.form)
        writer.write(batch.first)
        writer.write(batch.last)
        writer.write(batch.checksum)
        bytes = writer.bytes + batch.bytes
    }

    /// The group that a key holds.
    ///
    /// - Throws: `JournalError` if it is of a newer form, or is none.
    package static func batch(in key: EtcdKey) throws(JournalError) -> RecordBatch {
        var reader = BinaryReader(key.value)
        guard let form = try? reader.read(UInt8.self), form > 0 else { throw damaged(key.name) }
        guard form == Self.form else { throw JournalError(newer: "form \(form)", in: key.name) }
        guard let first = try? reader.read(UInt64.self), let last = try? reader.read(UInt64.self),
            let checksum = try? reader.read(UInt32.self)
        else { throw damaged(key.name) }
        let head = MemoryLayout<UInt8>.size + 2 * MemoryLayout<UInt64>.size + MemoryLayout<UInt32>.size
        return RecordBatch(first: first, last: last, bytes: Array(key.value.dropFirst(head)), checksum: checksum)
    }

    static func missing(_ name: String) -> JournalError {
        JournalError(.damaged, reason: "\(name) is missing in etcd: restore a copy of the cluster")
    }

    static func damaged(_ name: String) -> JournalError {
        JournalError(.damaged, reason: "\(name) in etcd is not what was written: restore a copy of the cluster")
    }
}
