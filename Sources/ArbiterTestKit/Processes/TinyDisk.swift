internal import Foundation
internal import Glibc

/// A small file system in a temporary directory; removed on `deinit`.
///
/// Only a privileged process can create one.
package final class TinyDisk {
    package let directory: TemporaryDirectory

    /// Whether this process can create one.
    package static let isPermitted = (try? TinyDisk(bytes: 64 * 1024)) != nil

    /// Creates a file system of this size.
    ///
    /// - Throws: the error of the system, for example if it is not permitted.
    package init(bytes: Int) throws {
        directory = try TemporaryDirectory()
        try mount(bytes: bytes, flags: 0)
    }

    deinit {
        unsafe umount2(directory.path, Int32(MNT_DETACH))
    }

    /// Makes it larger; its files stay.
    ///
    /// - Throws: the error of the system.
    package func grow(toBytes bytes: Int) throws {
        try mount(bytes: bytes, flags: MS_REMOUNT)
    }

    /// Makes it read-only.
    ///
    /// - Throws: the error of the system, for example if a file is open for writing.
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
