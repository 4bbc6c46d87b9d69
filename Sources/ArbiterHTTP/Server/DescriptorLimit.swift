internal import CLinux
internal import Glibc

/// The limit of files and sockets that the process may have open.
package enum DescriptorLimit {
    /// Raises the limit to `needed`, or to the highest that is allowed.
    ///
    /// - Returns: the limit now.
    package static func raise(to needed: Int) -> Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return needed }
        guard limit.rlim_cur < rlim_t(needed) else { return Int(clamping: limit.rlim_cur) }
        limit.rlim_cur = min(rlim_t(needed), limit.rlim_max)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_cur)
    }
}
