internal import Foundation
internal import GRDB

// Reads values that may be damaged: GRDB's own conversions end the process if a value has another type.

extension Row {
    /// The integer in a column.
    ///
    /// - Throws: `JournalError` if the value has another type.
    func number(_ column: String, of path: String) throws -> Int64 {
        guard case .int64(let number) = try storage(column) else { throw JournalError(unreadable: column, in: path) }
        return number
    }

    /// The bytes in a column.
    ///
    /// - Throws: `JournalError` if the value has another type.
    func bytes(_ column: String, of path: String) throws -> [UInt8] {
        guard case .blob(let data) = try storage(column) else { throw JournalError(unreadable: column, in: path) }
        return [UInt8](data)
    }

    /// The text in a column.
    ///
    /// - Throws: `JournalError` if the value has another type.
    func text(_ column: String, of path: String) throws -> String {
        guard case .string(let text) = try storage(column) else { throw JournalError(unreadable: column, in: path) }
        return text
    }

    private func storage(_ column: String) throws -> DatabaseValue.Storage {
        try decode(DatabaseValue.self, forColumn: column).storage
    }
}

extension JournalError {
    fileprivate init(unreadable column: String, in path: String) {
        self.init(damage: "a value of \(column) is of another type", in: path)
    }

    /// The contents of a journal are not what was written.
    init(damage: String, in path: String) {
        let line = damage.split(whereSeparator: \.isNewline).joined(separator: " ")
        self.init(
            .damaged, reason: "\(path) is damaged (\(line)): restore a copy of it, or move it away to begin anew")
    }
}
