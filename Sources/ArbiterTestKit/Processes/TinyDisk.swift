internal import Foundation
internal import Glibc

/// A file system of its own, as small as a test likes, in a temporary directory; gone when nobody needs it any more.
///
/// Only a privileged process may have one.
package final class TinyDisk {
    package let directory: TemporaryDirectory

    /// Whether this process may have one.
    package static let isPermitted = (try? TinyDisk(bytes: 64 * 1024)) != nil

    /// Makes one.
    ///
    /// - Throws: What the system says, where it is not permitted too.
    package init(bytes: Int) throws {
        directory = try TemporaryDirectory()
        try mount(bytes: bytes, flags: 0)
    }

    deinit {
        unsafe umount2(directory.path, Int32(MNT_DETACH))
    }

    /// Makes it larger, with what is on it.
    ///
    /// - Throws: What the system says.
    package func grow(toBytes bytes: Int) throws {
        try mount(bytes: bytes, flags: MS_REMOUNT)
    }

    /// Takes no more writes.
    ///
    /// - Throws: What the system says, if somebody has a file open for writing too.
    package func makeReadOnly() throws {
        try mount(bytes: nil, flags: MS_REMOUNT | MS_RDONLY)
    }

    private func mount(bytes: Int?, flags: some BinaryInteger) throws {
        let options = bytes.map { "size=\($0)" } ?? ""
        let status = unsafe options.withCString { options in
            unsafe Glibc.mount("tmpfs", directory.path, "tmpfs", UInt(flags), options)
        }
        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM) }
    }
}
