internal import Foundation

/// A directory for a test; removed on `deinit`.
package final class TemporaryDirectory: Sendable {
    package let path: String

    /// Creates a directory.
    ///
    /// - Throws: the error of the file system.
    package init() throws {
        path = NSTemporaryDirectory() + "arbiter-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
