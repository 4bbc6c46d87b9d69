import ArbiterCore
import ArbiterTestKit
import Foundation
import Testing

@testable import ArbiterEngine

struct LogJournalTests {
    @Test(arguments: JournalConformance.Check.allCases, LogJournal.Durability.allCases)
    func `the journal passes the conformance suite`(
        check: JournalConformance.Check, durability: LogJournal.Durability
    ) throws {
        let directory = try JournalDirectory()
        let open = { try directory.open(durability) }
        try JournalConformance(make: open, reopen: open).run(check)
    }

    @Test(arguments: LogJournal.Durability.allCases)
    func `every record reported as committed is there after a kill`(durability: LogJournal.Durability) throws {
        let directory = try JournalDirectory()
        let life = RecordedLife(seed: 1, records: 200)
        let journal = try directory.open(durability)
        let commits = Commits(of: journal)
        for record in life.records {
            journal.commit(record)
            guard record.sequence.isMultiple(of: 40) else { continue }
            try commits.wait(for: record.sequence)
            #expect(try directory.asIfKilled().contents().records == Array(life.records.prefix(Int(record.sequence))))
        }
        journal.close()
    }

    @Test func `a second journal in the same directory is refused until the first is closed`() throws {
        let directory = try JournalDirectory()
        do {
            let first = try directory.open()
            let refusal = #expect(throws: JournalError.self) { try directory.open() }
            #expect(refusal?.kind == .inUse)
            #expect(refusal?.reason.contains(directory.path) == true)
            first.close()
        }
        #expect(try directory.contents().records.isEmpty)
    }

    @Test func `the directory is created with access for its owner only`() throws {
        let parent = try TemporaryDirectory()
        let path = parent.path + "/a/b"
        try LogJournal(directory: path, durability: .power, logger: JournalDirectory().logger).close()
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o700)
    }

    @Test func `the files of the journal are for its owner only, even in an existing directory`() throws {
        let directory = try JournalDirectory()
        try directory.keep(RecordedLife(seed: 1, records: 60).records, recordsInGroup: 10, recordsBetweenSnapshots: 20)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(names.count >= 3)
        for name in names {
            let attributes = try FileManager.default.attributesOfItem(atPath: directory.path + "/" + name)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }

    @Test func `a directory that cannot be created is inaccessible`() throws {
        let parent = try TemporaryDirectory()
        try Data().write(to: URL(fileURLWithPath: parent.path + "/file"))
        let refusal = #expect(throws: JournalError.self) {
            try LogJournal(
                directory: parent.path + "/file/data", durability: .crash, logger: JournalDirectory().logger)
        }
        #expect(refusal?.kind == .inaccessible)
    }

    @Test(arguments: LogJournal.Durability.allCases)
    func `an inspection reads the committed records of an open journal and changes nothing`(
        durability: LogJournal.Durability
    ) throws {
        let directory = try JournalDirectory()
        let life = RecordedLife(seed: 2, records: 50)
        let journal = try directory.open(durability)
        let commits = Commits(of: journal)
        for record in life.records { journal.commit(record) }
        try commits.wait(for: 50)

        let alive = try JournalInspection(directory: directory.path)
        #expect(alive.records == life.records)
        #expect(alive.durability == durability.rawValue)
        #expect(!alive.isClosed && !alive.isTorn)
        #expect(try alive.replayed().snapshot() == life.machine.snapshot())

        journal.close()
        let before = try directory.allBytes()
        let dead = try JournalInspection(directory: directory.path)
        #expect(dead.isClosed)
        #expect(dead.records == life.records)
        #expect(dead.form == 1)
        #expect(try directory.allBytes() == before)
    }

    @Test func `an inspection without a journal is refused with the directory's path`() throws {
        let directory = try TemporaryDirectory()
        let refusal = #expect(throws: JournalError.self) { try JournalInspection(directory: directory.path) }
        #expect(refusal?.reason.contains(directory.path) == true)
    }

    @Test func `with durability power, a commit changes neither the size of the file nor what is behind it`() throws {
        let directory = try JournalDirectory()
        let journal = try directory.open(.power)
        let commits = Commits(of: journal)
        var sizes: Set<Int> = []
        for record in RecordedLife(seed: 1, records: 100).records {
            journal.commit(record)
            try commits.wait(for: record.sequence)
            sizes.insert(directory["log-1"].count)
        }
        #expect(sizes.count == 1)
        journal.close()
        // What was written ahead is given back.
        #expect(try directory.groups(of: "log-1").last?.upperBound == directory["log-1"].count)
    }

    @Test func `each process begins a log of its own with its first group, and many logs are compacted`() throws {
        let directory = try JournalDirectory()
        let records = RecordedLife(seed: 1, records: LogJournal.mostLogs + 1).records
        for record in records {
            #expect(try directory.contents().records.count == Int(record.sequence) - 1)
            let journal = try directory.open()
            _ = try journal.contents()
            let commits = Commits(of: journal)
            journal.commit(record)
            try commits.wait(for: record.sequence)
            if record == records.last {
                #expect(try eventually { try directory.names() == ["log-34", "snapshot-33"] })
            } else {
                #expect(try directory.files().logs == Array(1...record.sequence))
            }
            journal.close()
        }
        #expect(try directory.contents().snapshot?.sequence == 33)
    }

    @Test func `the checksum is CRC-32C, in hardware and in software`() {
        // RFC 3720, B.4.
        #expect(CRC32C.of([UInt8](repeating: 0, count: 32)) == 0x8a91_36aa)
        #expect(CRC32C.of([UInt8](repeating: 0xff, count: 32)) == 0x62a8_ab43)
        #expect(CRC32C.of(Array(0...31)) == 0x46dd_794e)
        #expect(CRC32C.of(Array("123456789".utf8)) == 0xe306_9283)
        for count in 0..<40 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
            var sum = CRC32C()
            sum.addInSoftware(bytes)
            #expect(CRC32C.of(bytes) == sum.value)
        }
    }
}
