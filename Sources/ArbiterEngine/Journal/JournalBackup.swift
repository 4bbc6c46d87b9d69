internal import ArbiterCore
internal import Foundation

/// A copy of a journal in a directory of its own: a snapshot, a log, and a manifest with their checksums.
struct JournalBackup: Hashable, Codable {
    static let manifest = "manifest.json"

    /// A file of the copy.
    struct File: Hashable, Codable {
        let name: String
        let bytes: Int
        /// CRC-32C, in hexadecimal.
        let checksum: String
    }

    /// The form of the manifest.
    let form: Int
    /// Which journal it is a copy of.
    let journal: String
    /// The last record of the copy.
    let sequence: UInt64
    let files: [File]

    /// Reads the manifest of a copy.
    ///
    /// - Throws: `JournalError` if the directory has none, or if it is damaged.
    init(in directory: String) throws(JournalError) {
        let path = directory + "/" + Self.manifest
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw JournalError(reason: "\(directory) is no backup: it has no \(Self.manifest)")
        }
        guard let backup = try? JSONDecoder().decode(JournalBackup.self, from: bytes) else {
            throw JournalError(damage: "it is no manifest", in: path)
        }
        guard backup.form <= Int(LogFormat.form) else { throw JournalError(newer: "form \(backup.form)", in: path) }
        self = backup
    }

    /// Writes a copy of what a journal has, as a journal whose last records may be missing.
    ///
    /// - Parameters:
    ///   - journal: what is copied.
    ///   - id: which journal the copy is; `nil` if it is the same.
    ///   - storage: an empty directory.
    /// - Throws: `JournalError` if it cannot be written.
    init(of journal: JournalInspection, as id: UInt128? = nil, to storage: any JournalStorage) throws(JournalError) {
        let id = id ?? journal.journal
        let snapshot = journal.snapshot?.sequence ?? 0
        let header = LogHeader(
            journal: id, boot: 0, first: snapshot + 1, durability: .crash, isCopy: true)
        var writer = try LogWriter(header, nil, in: storage)
        var rest = journal.records[...]
        while !rest.isEmpty {
            let count = min(LogJournal.recordsInGroup, RecordBatch.lengthUnderSameRules(rest))
            _ = try writer.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        try writer.finish()
        writer.close()
        if let snapshot = journal.snapshot { try SnapshotFile.write(snapshot, of: id, to: storage) }
        var files: [File] = []
        for name in try storage.names().sorted() { files.append(try File(name, in: storage)) }
        form = Int(LogFormat.form)
        self.journal = String(id, radix: 16)
        sequence = journal.last
        self.files = files
        try write(to: storage)
    }

    private func write(to storage: any JournalStorage) throws(JournalError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        guard let bytes = try? encoder.encode(self) else { preconditionFailure("a manifest cannot be encoded") }
        let file = try storage.create(Self.manifest, appends: false)
        defer { file.close() }
        try file.write(Array(bytes) + [UInt8(ascii: "\n")], at: 0)
        try file.synchronize()
        try storage.synchronize()
    }

    /// Reads the copy.
    ///
    /// - Throws: `JournalError` if a file is missing, or not what was written.
    func contents(of directory: String) throws(JournalError) -> JournalInspection {
        let storage = DirectoryStorage(directory)
        for file in files where try File(file.name, in: storage) != file {
            throw JournalError(damage: "it is not the file of the manifest", in: "\(directory)/\(file.name)")
        }
        let journal = try JournalInspection(directory: directory)
        guard String(journal.journal, radix: 16) == self.journal, journal.last == sequence else {
            throw JournalError(damage: "its files are not those of the manifest", in: directory)
        }
        return journal
    }
}

extension JournalBackup.File {
    /// - Throws: `JournalError` if there is no such file.
    fileprivate init(_ name: String, in storage: any JournalStorage) throws(JournalError) {
        guard let file = try storage.open(name) else {
            throw JournalError(damage: "\(name) is missing", in: storage.path)
        }
        defer { file.close() }
        let size = try file.size()
        var sum = CRC32C()
        for start in stride(from: 0, to: size, by: LogFormat.bytesAtOnce) {
            sum.add(try file.read(min(LogFormat.bytesAtOnce, size - start), at: start))
        }
        let digits = String(sum.value, radix: 16)
        self.init(name: name, bytes: size, checksum: String(repeating: "0", count: 8 - digits.count) + digits)
    }
}
