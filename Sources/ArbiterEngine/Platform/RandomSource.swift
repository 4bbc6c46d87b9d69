internal import Glibc

/// Random bits of the operating system, fetched 32 words at a time, because most of the cost is the system call.
struct RandomSource: Sendable {
    /// `getentropy` gives at most 256 bytes per call.
    private static let wordsFetched = 32

    private var words: [UInt64] = []

    mutating func next() -> UInt64 {
        if words.isEmpty {
            words = Array(repeating: 0, count: Self.wordsFetched)
            let status = unsafe words.withUnsafeMutableBytes { unsafe getentropy($0.baseAddress, $0.count) }
            precondition(status == 0, "getentropy failed")
        }
        return words.removeLast()
    }
}
