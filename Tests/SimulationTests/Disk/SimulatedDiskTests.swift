import ArbiterEngine
import ArbiterSimulation
import Testing

/// What a simulated disk keeps and loses.
struct SimulatedDiskTests {
    /// What the disks with some seeds have in a file after something and the death of the machine.
    private func outcomes(
        of name: String = "file", _ use: (SimulatedDisk) throws -> Void
    ) throws -> Set<[UInt8]?> {
        var outcomes: Set<[UInt8]?> = []
        for seed in UInt64(1)...200 {
            let disk = SimulatedDisk(seed: seed)
            disk.beginProcess()
            try use(disk)
            disk.killMachine()
            disk.beginProcess()
            outcomes.insert(try content(of: name, on: disk))
        }
        return outcomes
    }

    private func content(of name: String, on disk: SimulatedDisk) throws -> [UInt8]? {
        guard let file = try disk.open(name) else { return nil }
        return try file.read(try file.size(), at: 0)
    }

    /// A file with bytes in it; both are on the disk.
    private func kept(_ bytes: [UInt8], on disk: SimulatedDisk, as name: String = "file") throws -> any StoredFile {
        let file = try disk.create(name, appends: false)
        try file.write(bytes, at: 0)
        try file.synchronize()
        try disk.synchronize()
        return file
    }

    @Test func `bytes and names that were synchronized survive the machine`() throws {
        let found = try outcomes { disk in _ = try kept([1, 2, 3], on: disk) }
        #expect(found == [[1, 2, 3]])
    }

    @Test func `bytes that were not synchronized survive the process`() throws {
        let disk = SimulatedDisk(seed: 1)
        disk.beginProcess()
        try disk.create("file", appends: true).write([1, 2], at: 0)
        disk.killProcess()
        #expect(throws: JournalError.self) { try disk.names() }
        disk.beginProcess()
        #expect(try content(of: "file", on: disk) == [1, 2])
    }

    @Test func `sectors that were not synchronized get to the disk one by one`() throws {
        let (zeros, ones) = ([UInt8](repeating: 0, count: 512), [UInt8](repeating: 1, count: 512))
        let found = try outcomes { disk in
            try kept(zeros + zeros, on: disk).write(ones + ones, at: 0)
        }
        #expect(found == [zeros + zeros, ones + zeros, zeros + ones, ones + ones])
    }

    @Test func `a size gets to the disk without the bytes, or the bytes without the size`() throws {
        let found = try outcomes { disk in try kept([1], on: disk).write([2, 3], at: 1) }
        #expect(found == [[1], [1, 0, 0], [1, 2, 3]])
    }

    @Test func `a file that was cut has its old or its new size`() throws {
        let found = try outcomes { disk in try kept([1, 2, 3], on: disk).truncate(to: 1) }
        #expect(found == [[1], [1, 2, 3], [1, 0, 0]])
    }

    @Test func `a name that was not synchronized is there or not`() throws {
        let found = try outcomes { disk in
            let file = try disk.create("file", appends: false)
            try file.write([1], at: 0)
            try file.synchronize()
        }
        #expect(found == [nil, [1]])
    }

    @Test func `names that were not synchronized change in any order`() throws {
        let names = try (UInt64(1)...200).map { seed in
            let disk = SimulatedDisk(seed: seed)
            disk.beginProcess()
            _ = try kept([1], on: disk, as: "old")
            _ = try kept([2], on: disk, as: "new.new")
            try disk.rename("new.new", to: "new")
            try disk.remove("old")
            disk.killMachine()
            disk.beginProcess()
            return try disk.names()
        }
        #expect(Set(names) == [["new"], ["new", "old"], ["new.new"], ["new.new", "old"]])
    }

    @Test func `what a failed synchronization has dropped is read until the machine dies`() throws {
        let found = try outcomes { disk in
            let file = try kept([1], on: disk)
            try file.write([2], at: 0)
            disk.plan(.failure, at: 1)
            #expect(throws: JournalError.self) { try file.synchronize() }
            #expect(try content(of: "file", on: disk) == [2])
            try file.synchronize()
        }
        #expect(found == [[1], [2]])
    }

    @Test func `what is written once more after a failed synchronization gets to the disk`() throws {
        let found = try outcomes { disk in
            let file = try kept([1], on: disk)
            try file.write([2], at: 0)
            disk.plan(.failure, at: 1)
            try? file.synchronize()
            try file.write([2], at: 0)
            try file.synchronize()
        }
        #expect(found == [[2]])
    }

    @Test func `a disk without room takes a part of what is written`() throws {
        let disk = SimulatedDisk(seed: 1)
        disk.beginProcess()
        let file = try disk.create("file", appends: true)
        disk.limit(toRoom: 2)
        #expect(throws: JournalError.self) { try file.write([1, 2, 3], at: 0) }
        #expect(try content(of: "file", on: disk) == [1, 2])
        disk.calm()
        try file.write([4], at: 0)
        #expect(try content(of: "file", on: disk) == [1, 2, 4])
    }

    @Test func `an operation that kills the process is its last`() throws {
        let disk = SimulatedDisk(seed: 1)
        disk.beginProcess()
        let file = try disk.create("file", appends: false)
        disk.plan(.death, at: 2)
        try file.write([1], at: 0)
        #expect(throws: JournalError.self) { try file.synchronize() }
        #expect(throws: JournalError.self) { try file.write([2], at: 0) }
        #expect(throws: JournalError.self) { try disk.remove("file") }
        disk.beginProcess()
        #expect(throws: JournalError.self) { try file.write([2], at: 0) }
        #expect(try content(of: "file", on: disk) == [1])
    }
}
