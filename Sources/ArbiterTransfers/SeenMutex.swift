#if ARBITER_SANITIZE_THREAD
    internal import Foundation
    internal import Synchronization

    /// The `Mutex` of builds for ThreadSanitizer, which does not see the futex inside that of Synchronization, but understands NSLock.
    struct Mutex<Value: ~Copyable>: ~Copyable, Sendable {
        private let mutex: Synchronization.Mutex<Value>
        private let seen = NSLock()

        init(_ value: consuming sending Value) {
            mutex = Synchronization.Mutex(value)
        }

        borrowing func withLock<Returned: ~Copyable, Thrown: Error>(
            _ body: (inout sending Value) throws(Thrown) -> sending Returned
        ) throws(Thrown) -> sending Returned {
            seen.lock()
            defer { seen.unlock() }
            return try mutex.withLock(body)
        }
    }
#endif
