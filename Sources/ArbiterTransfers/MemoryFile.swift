#if os(Linux)
    internal import CCurl
    internal import Glibc
    internal import Synchronization

    /// A text in a file that is on no disk, for libcurl, which reads certificates from files, at each new connection.
    final class MemoryFile: Sendable {
        private static let last = Atomic<UInt64>(0)

        let path: String
        private let descriptor: Int32

        /// - Parameter text: what is in it; `nil` if the system has no room for it.
        init?(_ text: String) {
            descriptor =
                unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
                    unsafe arbiter_memory_file(bytes.baseAddress, bytes.count)
                } ?? arbiter_memory_file(Array(text.utf8), text.utf8.count)
            guard descriptor >= 0 else { return nil }
            // libcurl uses a connection again if the paths are the same, and the system gives numbers of descriptors again. So
            // each file has its number in the spelling of its path.
            let number = Self.last.wrappingAdd(1, ordering: .relaxed).newValue
            let spelling = String(number, radix: 2).map { $0 == "1" ? "./" : "/" }.joined()
            path = "/proc/self/fd/\(spelling)\(descriptor)"
        }

        deinit { close(descriptor) }
    }
#endif
