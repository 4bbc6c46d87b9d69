internal import Glibc

/// Random bits of the operating system, fetched thirty-two words at a time: most of the cost is the system call.
package struct SystemRandom: RandomNumberGenerator, Sendable {
    /// The most that `getentropy` gives at once is 256 bytes.
    private static let wordsFetched = 32

    private var words: [UInt64] = []

    package init() {}

    package mutating func next() -> UInt64 {
        if words.isEmpty {
            words = Array(repeating: 0, count: Self.wordsFetched)
            let status = unsafe words.withUnsafeMutableBytes { unsafe getentropy($0.baseAddress, $0.count) }
            precondition(status == 0, "getentropy failed")
        }
        return words.removeLast()
    }
}
