internal import Glibc

/// A value behind a lock for which several threads often wait.
///
/// A thread that finds the lock taken tries again for a moment before it sleeps (`PTHREAD_MUTEX_ADAPTIVE_NP`). The futex
/// of `Mutex` inherits priorities: every wait for it goes through the scheduler.
@safe package final class ContendedLock<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    package init(_ value: sending Value) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe self.value = .allocate(capacity: 1)
        unsafe self.value.initialize(to: value)
        var attributes = pthread_mutexattr_t()
        unsafe pthread_mutexattr_init(&attributes)
        unsafe pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
        let status = unsafe pthread_mutex_init(mutex, &attributes)
        unsafe pthread_mutexattr_destroy(&attributes)
        precondition(status == 0, "a lock cannot be made")
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe value.deinitialize(count: 1)
        unsafe value.deallocate()
        unsafe mutex.deallocate()
    }

    /// Runs the body while it holds the lock.
    @inline(__always) package func withLock<Returned, Thrown: Error>(
        _ body: (inout sending Value) throws(Thrown) -> sending Returned
    ) throws(Thrown) -> sending Returned {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try unsafe body(&value.pointee)
    }
}
