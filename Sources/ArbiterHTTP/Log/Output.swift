internal import Glibc

/// Writes to a stream of the process.
package enum Output {
    /// Writes all bytes, to a file, a pipe or a terminal; an error cannot be reported anywhere.
    ///
    /// - Returns: whether everything was written.
    @discardableResult
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || (count < 0 && errno == EINTR) else { return false }
            rest = rest.dropFirst(max(0, count))
        }
        return true
    }

    /// Writes a line.
    package static func writeLine(_ line: String, to descriptor: Int32) {
        write(Array((line + "\n").utf8), to: descriptor)
    }
}
