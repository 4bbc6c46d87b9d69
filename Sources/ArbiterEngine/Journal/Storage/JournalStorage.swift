/// The directory of a journal with its files: one of the system, or that of a simulated disk.
///
/// Nothing that is written, created, renamed or removed is safe from the death of the machine before the call that
/// synchronizes it has returned.
package protocol JournalStorage: Sendable {
    /// What errors and people call the directory.
    var path: String { get }

    /// The names of its files, in any order.
    ///
    /// - Throws: `JournalError` if the directory cannot be read.
    func names() throws(JournalError) -> [String]

    /// Opens a file, to read it and to write it at offsets.
    ///
    /// - Returns: `nil` if there is none.
    /// - Throws: `JournalError` if it cannot be opened.
    func open(_ name: String) throws(JournalError) -> (any StoredFile)?

    /// Creates an empty file that only its owner can read, in the place of one that has the name.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - appends: whether every write goes to its end, whatever the offset.
    /// - Returns: the file.
    /// - Throws: `JournalError` if it cannot be created.
    func create(_ name: String, appends: Bool) throws(JournalError) -> any StoredFile

    /// Gives a file another name, in the place of one that has that already.
    ///
    /// - Throws: `JournalError` if it cannot be renamed.
    func rename(_ name: String, to other: String) throws(JournalError)

    /// Removes a file, if there is one.
    ///
    /// - Throws: `JournalError` if it cannot be removed.
    func remove(_ name: String) throws(JournalError)

    /// Has all names on the disk.
    ///
    /// - Throws: `JournalError` if the disk refuses.
    func synchronize() throws(JournalError)
}

/// An open file of a journal; it stays the same file when its name goes to another one.
package protocol StoredFile: AnyObject, Sendable {
    /// Its size in bytes.
    ///
    /// - Throws: `JournalError` if it cannot be told.
    func size() throws(JournalError) -> Int

    /// Reads bytes; fewer than asked only if the file ends.
    ///
    /// - Throws: `JournalError` if it cannot be read.
    func read(_ count: Int, at offset: Int) throws(JournalError) -> [UInt8]

    /// Whether the file has these bytes at an offset.
    ///
    /// - Throws: `JournalError` if it cannot be read.
    func holds(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(JournalError) -> Bool

    /// Writes all of the bytes, with one call of the system unless that writes less.
    ///
    /// - Throws: `JournalError` if it cannot be written; a part of the bytes may be.
    func write(_ bytes: [UInt8], at offset: Int) throws(JournalError)

    /// Cuts off what is behind a size.
    ///
    /// - Throws: `JournalError` if it cannot be cut.
    func truncate(to size: Int) throws(JournalError)

    /// Has its bytes on the disk.
    ///
    /// - Throws: `JournalError` if the disk refuses.
    func synchronize() throws(JournalError)

    /// Whether the file with a name in the directory is this one, and has this size.
    func isInPlace(as name: String, size: Int) -> Bool

    /// Lets go of the file, which is not used any more.
    func close()
}

extension StoredFile {
    package func holds(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(JournalError) -> Bool {
        try read(bytes.count, at: offset).elementsEqual(bytes)
    }
}
