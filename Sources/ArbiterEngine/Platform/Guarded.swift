public import Synchronization

#if ARBITER_SANITIZE_THREAD
    public import Foundation
#endif

/// A value behind a lock, which one thread at a time can access.
///
/// Inlinable, because locks are taken several times in every request; and public, because the compiler specializes no
/// inlinable declaration of the package in another module.
@frozen public struct Guarded<Value>: ~Copyable, Sendable {
    @usableFromInline let mutex: Mutex<Value>

    #if ARBITER_SANITIZE_THREAD
        // ThreadSanitizer does not see the futex inside a Mutex, but it understands NSLock.
        @usableFromInline let seen = NSLock()
    #endif

    /// Puts a value behind a lock of its own.
    @inlinable public init(_ value: sending Value) {
        mutex = Mutex(value)
    }

    /// Runs the body while it holds the lock.
    @inlinable public borrowing func withLock<Returned: ~Copyable, Thrown: Error>(
        _ body: (inout sending Value) throws(Thrown) -> sending Returned
    ) throws(Thrown) -> sending Returned {
        #if ARBITER_SANITIZE_THREAD
            seen.lock()
            defer { seen.unlock() }
        #endif
        return try mutex.withLock(body)
    }
}
