import ArbiterCluster
import ArbiterCore
import ArbiterEngine
import Testing

/// What makes a snapshot in etcd the newest one, and what damage to it does.
struct SnapshotManifestTests {
    private let state = Array("the state".utf8)

    private func bytes() -> [UInt8] {
        let moment = Moment(instant: Instant(nanoseconds: 5), timestamp: Timestamp(milliseconds: 7))
        let snapshot = JournalSnapshot(sequence: 3, moment: moment, state: state)
        return SnapshotManifest(snapshot, chunks: 1).bytes
    }

    private func read(_ bytes: [UInt8]) throws(JournalError) -> JournalSnapshot? {
        let manifest = try SnapshotManifest(in: EtcdKey(name: "snapshot", value: bytes, created: 1, changed: 1))
        return manifest.snapshot(of: state)
    }

    @Test func `a manifest is read as it was written`() throws {
        let snapshot = try #require(try read(bytes()))
        #expect(snapshot.sequence == 3)
        #expect(snapshot.moment.instant == Instant(nanoseconds: 5))
        #expect(snapshot.moment.timestamp == Timestamp(milliseconds: 7))
        #expect(snapshot.state == state)
    }

    @Test func `every flipped bit of a manifest is found`() {
        let written = bytes()
        for bit in 0..<written.count * 8 {
            var damaged = written
            damaged[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: JournalError.self, "bit \(bit)") { try read(damaged) }
        }
        #expect(throws: JournalError.self) { try read(Array(written.dropLast())) }
    }

    @Test func `a manifest that names more bytes than its parts can have is damaged`() {
        var damaged = Array(bytes().dropLast(4))
        // The last byte of that number, before the checksum of the state and the number of the parts.
        damaged[damaged.count - 9] = 0x80
        let checksum = Checksum.crc32(damaged)
        damaged += (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (8 * $0)) }
        #expect(throws: JournalError.self) { try read(damaged) }
    }

    @Test(arguments: [0, 2, 255]) func `a manifest of a newer form is told from a damaged one`(form: UInt8) {
        var changed = bytes()
        changed[0] = form
        let error = #expect(throws: JournalError.self) { try read(changed) }
        #expect(error?.kind == (form == 0 ? .damaged : .unknownForm))
    }
}
