import ArbiterCore
import ArbiterTestKit
import Foundation
import Logging
import Testing

@testable import ArbiterEngine

/// Damage is detected, and reading a damaged journal never makes it worse.
struct LogJournalDamageTests {
    private static let log = "log-1"

    /// A journal of forty records in four groups, closed or killed.
    private func sound(killed: Bool = false) throws -> (JournalDirectory, [JournalEntry]) {
        let directory = try JournalDirectory()
        let records = RecordedLife(seed: 5, records: 40).records
        try directory.keep(records, recordsInGroup: 10)
        if killed {
            let end = try #require(directory.groups(of: Self.log).dropLast().last?.upperBound)
            directory[Self.log] = directory[Self.log].prefix(end)
        }
        return (directory, records)
    }

    private func expectRefusal(
        _ kind: JournalError.Kind, of directory: JournalDirectory, location: SourceLocation = #_sourceLocation
    ) throws {
        let before = try directory.allBytes()
        let refusal = #expect(throws: JournalError.self, sourceLocation: location) { try directory.contents() }
        #expect(refusal?.kind == kind, "\(refusal?.reason ?? "")", sourceLocation: location)
        #expect(refusal?.reason.contains(directory.path) == true, sourceLocation: location)
        #expect(try directory.allBytes() == before, "a file was changed", sourceLocation: location)
        #expect(throws: JournalError.self, sourceLocation: location) {
            try JournalInspection(directory: directory.path)
        }
    }

    @Test func `a torn end is cut off, kept aside and logged`() throws {
        let (directory, records) = try sound(killed: true)
        let last = try #require(directory.groups(of: Self.log).last)
        directory.flip(Self.log, at: last.lowerBound + 40)
        let torn = directory[Self.log][last]
        #expect(try JournalInspection(directory: directory.path).isTorn)

        // Nothing is changed before the next commit. Its answers may have been sent, so fences must jump.
        for _ in 0..<2 {
            let contents = try directory.contents()
            #expect(contents.records == Array(records.prefix(30)))
            #expect(contents.isIncomplete)
            #expect(try directory.names() == [Self.log])
        }
        let inspection = try JournalInspection(directory: directory.path)
        #expect(inspection.isTorn)
        #expect(inspection.tornBefore == 0)

        try directory.keep(Array(records.dropFirst(30)))
        #expect(directory["torn-31"] == torn)
        #expect(directory.log[.warning].count == 1)
        #expect(try directory.contents().records == records)
        #expect(try directory.contents().ending == .closed)
        #expect(try JournalInspection(directory: directory.path).tornBefore == 1)
    }

    /// What the last group lacks, and how a start takes that.
    @Test(arguments: [1, 27, 28, 100])
    func `a last group that was not written to its end is cut off, as after a kill`(bytes: Int) throws {
        let (directory, records) = try sound(killed: true)
        let last = try #require(directory.groups(of: Self.log).last)
        directory[Self.log] = directory[Self.log].prefix(last.lowerBound + bytes)
        let contents = try directory.contents()
        #expect(contents.records == Array(records.prefix(30)))
        #expect(contents.ending == .killed)
        // The rest may be zeros that were written ahead.
        directory[Self.log] += Data(count: 4096)
        #expect(try directory.contents() == contents)
    }

    /// What is behind the last whole group of a log, in which a bit of the length flips.
    @Test(arguments: [0, 1, 27, 28, 100])
    func `a last group with another length does not look like one that was not written to its end`(torn: Int) throws {
        let (directory, records) = try sound(killed: true)
        let groups = try directory.groups(of: Self.log)
        let (whole, last) = (try #require(groups.dropLast().last), try #require(groups.last))
        directory[Self.log] = directory[Self.log].prefix(last.lowerBound + torn)
        directory.flip(Self.log, at: whole.lowerBound + 6)
        let contents = try directory.contents()
        #expect(contents.records == Array(records.prefix(20)))
        #expect(contents.isIncomplete)
    }

    @Test func `the only group of a log may be torn too`() throws {
        let directory = try JournalDirectory()
        let records = RecordedLife(seed: 5, records: 4).records
        try directory.keep(records)
        let killed = try #require(directory.groups(of: Self.log).first?.upperBound)
        directory[Self.log] = directory[Self.log].prefix(killed - 1)
        #expect(try directory.contents().records == [])
        try directory.keep(records)
        #expect(try directory.names() == [Self.log, "torn-1"])
        #expect(try directory.contents().records == records)
    }

    @Test func `after the death of the machine, the first break is the end`() throws {
        let (directory, records) = try sound(killed: true)
        let second = try directory.groups(of: Self.log)[1]
        directory.flip(Self.log, at: second.lowerBound + 40)
        try expectRefusal(.damaged, of: directory)
        let contents = try directory.contents(boot: 2)
        #expect(contents.ending == .machineDied)
        #expect(contents.records == Array(records.prefix(10)))
    }

    @Test func `with durability power, only the last group may be cut short by the death of the machine`() throws {
        let directory = try JournalDirectory()
        let records = RecordedLife(seed: 5, records: 40).records
        try directory.keep(records, .power, recordsInGroup: 10)
        let groups = try directory.groups(of: Self.log)
        let whole = directory[Self.log].prefix(groups[3].upperBound)
        // As it lies on the disk: with zeros behind it.
        directory[Self.log] = whole + Data(count: 4096)
        #expect(try directory.contents(boot: 2).ending == .killed)
        directory.flip(Self.log, at: groups[3].lowerBound + 40)
        let contents = try directory.contents(boot: 2)
        #expect(contents.ending == .commitCutShort)
        #expect(contents.records == Array(records.prefix(30)))
        directory[Self.log] = whole
        directory.flip(Self.log, at: groups[2].lowerBound + 40)
        let refusal = #expect(throws: JournalError.self) { try directory.contents(boot: 2) }
        #expect(refusal?.kind == .damaged)
    }

    /// The bytes of a group's head, and one of its records and its last one.
    @Test(arguments: Array(0..<28) + [40, -1])
    func `a flipped byte before the end is refused`(byte: Int) throws {
        let (directory, _) = try sound()
        for group in try directory.groups(of: Self.log).prefix(2) {
            let place = byte < 0 ? group.upperBound + byte : group.lowerBound + byte
            directory.flip(Self.log, at: place)
            try expectRefusal(.damaged, of: directory)
            directory.flip(Self.log, at: place)
        }
    }

    @Test(arguments: 0..<64)
    func `a flipped byte in the header of a log is refused`(byte: Int) throws {
        let (directory, _) = try sound()
        directory.flip(Self.log, at: byte)
        // The third byte of the form makes it a newer one.
        try expectRefusal([8, 9].contains(byte) ? .unknownForm : .damaged, of: directory)
    }

    @Test func `a flipped byte in the snapshot is refused`() throws {
        let directory = try JournalDirectory()
        try directory.keep(
            RecordedLife(seed: 6, records: 60).records, recordsInGroup: 10, recordsBetweenSnapshots: 20)
        let name = try #require(directory.names().last)
        try #require(name.hasPrefix("snapshot"))
        for byte in Array(0..<72) + [72, 100, directory[name].count - 1] {
            directory.flip(name, at: byte)
            try expectRefusal([8, 9].contains(byte) ? .unknownForm : .damaged, of: directory)
            directory.flip(name, at: byte)
        }
        directory[name] += Data([0])
        try expectRefusal(.damaged, of: directory)
    }

    /// Other orders of the groups 0 to 3; 9 stands for zeros.
    @Test(arguments: [
        [0, 2, 3], [0, 2, 1, 3], [0, 1, 1, 2, 3], [0, 9, 2, 3], [1, 2, 3], [0, 1, 2, 3, 3], [0, 1, 2, 9, 3],
    ])
    func `a group that is missing, moved or doubled is refused`(order: [Int]) throws {
        let (directory, _) = try sound(killed: true)
        let bytes = directory[Self.log]
        let groups = try directory.groups(of: Self.log)
        directory[Self.log] = order.reduce(bytes.prefix(LogFormat.headerBytes)) { file, number in
            file + (number == 9 ? Data(count: groups[1].count) : bytes[groups[number]])
        }
        try expectRefusal(.damaged, of: directory)
    }

    @Test(arguments: [Int64.min, .min / 2, .max / 2 + 1, .max])
    func `a record at an instant that cannot be is refused, although its checksum is right`(nanoseconds: Int64) throws {
        let (directory, records) = try sound()
        let last = try #require(records.last)
        let moment = Moment(instant: Instant(nanoseconds: nanoseconds), timestamp: last.moment.timestamp)
        try directory.keep([
            JournalEntry(sequence: last.sequence + 1, moment: moment, record: .skipFences, rules: last.rules)
        ])
        try expectRefusal(.damaged, of: directory)
    }

    @Test func `a group of another journal is refused`() throws {
        let (one, _) = try sound(killed: true)
        let (other, _) = try sound(killed: true)
        let group = try one.groups(of: Self.log)[3]
        #expect(try other.groups(of: Self.log)[3] == group)
        one[Self.log].replaceSubrange(group, with: other[Self.log][group])
        try expectRefusal(.damaged, of: one)
        let (third, _) = try sound(killed: true)
        try third.keep(RecordedLife(seed: 5, records: 50).records.suffix(10))
        let (fourth, _) = try sound(killed: true)
        try fourth.keep(RecordedLife(seed: 5, records: 50).records.suffix(10))
        third["log-41"] = fourth["log-41"]
        try expectRefusal(.damaged, of: third)
    }

    @Test func `a missing log before the newest is refused, and a missing snapshot too`() throws {
        let directory = try JournalDirectory()
        let records = RecordedLife(seed: 5, records: 60).records
        for part in 0..<3 { try directory.keep(Array(records[part * 20..<part * 20 + 20])) }
        for name in ["log-1", "log-21"] {
            let bytes = directory[name]
            try FileManager.default.removeItem(atPath: directory.path + "/" + name)
            try expectRefusal(.damaged, of: directory)
            directory[name] = bytes
        }
        #expect(try directory.contents().records == records)
        let compacted = try JournalDirectory()
        try compacted.keep(records, recordsInGroup: 10, recordsBetweenSnapshots: 20)
        let name = try #require(compacted.names().last)
        try FileManager.default.removeItem(atPath: compacted.path + "/" + name)
        try expectRefusal(.damaged, of: compacted)
    }

    @Test func `what the writer of the next log has cut off is not read again`() throws {
        let (directory, records) = try sound(killed: true)
        let bytes = directory[Self.log]
        directory[Self.log] = try bytes.prefix(directory.groups(of: Self.log)[2].upperBound)
        let others = RecordedLife(seed: 5, records: 50).records.suffix(20)
        try directory.keep(Array(others))
        // The disk still has what was cut off.
        directory[Self.log] = bytes
        #expect(try directory.contents().records == Array(records.prefix(30)) + Array(others))
    }

    @Test func `no journal begins beside one whose restore was cut short`() throws {
        let (source, records) = try sound()
        let directory = try JournalDirectory()
        let copy = source.path + "/copy"
        _ = try JournalMaintenance.backUp(source.path, to: copy)
        try FileManager.default.createDirectory(
            atPath: directory.path + "/unfinished", withIntermediateDirectories: false)
        let refusal = #expect(throws: JournalError.self) { try directory.open() }
        #expect(refusal?.kind == .damaged)
        #expect(refusal?.reason.contains("run it again") == true)
        _ = try JournalMaintenance.restore(copy, to: directory.path)
        #expect(try directory.contents().records == records)
    }

    @Test func `a backup replaces nothing but an earlier backup of the same journal`() throws {
        let (source, _) = try sound()
        let copy = source.path + "/copy"
        _ = try JournalMaintenance.backUp(source.path, to: copy)
        _ = try JournalMaintenance.backUp(source.path, to: copy)
        // A daemon has come to use it, or somebody has put a file there.
        for name in ["lock", "notes"] {
            let path = copy + "/" + name
            _ = FileManager.default.createFile(atPath: path, contents: Data())
            #expect(throws: JournalError.self) { try JournalMaintenance.backUp(source.path, to: copy) }
            #expect(FileManager.default.fileExists(atPath: path))
            try FileManager.default.removeItem(atPath: path)
        }
        _ = try JournalMaintenance.backUp(source.path, to: copy)
    }

    @Test func `names with numbers that no journal has are none of its files`() throws {
        let (directory, records) = try sound()
        for name in ["log-0", "snapshot-0", "snapshot-\(UInt64.max)", "log-\(UInt64.max)", "log-01", "log--1"] {
            directory[name] = directory[Self.log]
        }
        #expect(try directory.contents().records == records)
        #expect(try directory.contents().ending == .closed)
    }

    @Test func `an emptied, foreign or renamed log is refused`() throws {
        let (directory, _) = try sound()
        let bytes = directory[Self.log]
        for wrong in [Data(), Data(String(repeating: "Dear diary, ", count: 1000).utf8), bytes.prefix(63)] {
            directory[Self.log] = wrong
            try expectRefusal(.damaged, of: directory)
        }
        try FileManager.default.removeItem(atPath: directory.path + "/" + Self.log)
        directory["log-2"] = bytes
        try expectRefusal(.damaged, of: directory)
    }

    @Test func `a closed journal that has lost its end counts as killed`() throws {
        let (directory, records) = try sound()
        #expect(try directory.contents().ending == .closed)
        let end = try #require(directory.groups(of: Self.log).last)
        for cut in [end.lowerBound, end.lowerBound + 3] {
            directory[Self.log] = directory[Self.log].prefix(cut)
            #expect(try directory.contents().records == records)
            #expect(try directory.contents().ending == .killed)
        }
    }

    @Test func `a journal that was closed and lost the log of its next writer counts as killed`() throws {
        let (directory, records) = try sound()
        try directory.keep(RecordedLife(seed: 5, records: 50).records.suffix(10))
        try FileManager.default.removeItem(atPath: directory.path + "/log-41")
        let contents = try directory.contents()
        #expect(contents.records == records)
        #expect(contents.ending == .killed)
    }

    @Test func `what an interrupted start has left is replaced`() throws {
        let directory = try JournalDirectory()
        directory["log-1.new"] = Data("arb".utf8)
        #expect(try directory.contents().records.isEmpty)
        #expect(try directory.names() == [Self.log])
        directory["log-1.new"] = Data("arb".utf8)
        try directory.keep(RecordedLife(seed: 5, records: 10).records)
        #expect(try directory.names() == [Self.log])
    }
}
