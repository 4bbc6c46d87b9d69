import ArbiterCluster
import ArbiterCore
import ArbiterEngine
import Testing

/// What makes a snapshot in etcd the newest one, and what damage to it does.
struct SnapshotManifestTests {
    private let state = Array("the state".utf8)

    private func bytes(isChecked: Bool) -> [UInt8] {
        let moment = Moment(instant: Instant(nanoseconds: 5), timestamp: Timestamp(milliseconds: 7))
        let snapshot = JournalSnapshot(sequence: 3, moment: moment, state: state)
        return SnapshotManifest(snapshot, chunks: 1, isChecked: isChecked).bytes
    }

    private func read(_ bytes: [UInt8]) throws(JournalError) -> JournalSnapshot? {
        let manifest = try SnapshotManifest(in: EtcdKey(name: "snapshot", value: bytes, created: 1, changed: 1))
        return manifest.snapshot(of: state)
    }

    @Test(arguments: [false, true]) func `a manifest is read as it was written`(isChecked: Bool) throws {
        let snapshot = try #require(try read(bytes(isChecked: isChecked)))
        #expect(snapshot.sequence == 3)
        #expect(snapshot.moment.instant == Instant(nanoseconds: 5))
        #expect(snapshot.moment.timestamp == Timestamp(milliseconds: 7))
        #expect(snapshot.state == state)
    }

    @Test func `every flipped bit of a manifest with a checksum is found`() {
        let written = bytes(isChecked: true)
        for bit in 0..<written.count * 8 {
            var damaged = written
            damaged[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: JournalError.self, "bit \(bit)") { try read(damaged) }
        }
        #expect(throws: JournalError.self) { try read(Array(written.dropLast())) }
    }

    @Test func `a manifest without a checksum that names more bytes than its parts can have is damaged`() {
        var damaged = bytes(isChecked: false)
        // The last byte of that number, before the checksum and the number of the parts.
        damaged[damaged.count - 9] = 0x80
        #expect(throws: JournalError.self) { try read(damaged) }
    }
}
