internal import Foundation

/// A directory of its own for a test, gone when nobody needs it any more.
package final class TemporaryDirectory: Sendable {
    package let path: String

    /// Makes one.
    ///
    /// - Throws: What the file system says.
    package init() throws {
        path = NSTemporaryDirectory() + "arbiter-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
