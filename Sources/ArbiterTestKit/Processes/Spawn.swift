internal import Foundation
internal import Glibc

/// Starts a process with these descriptors, numbered from 0, no others, and default signal handling.
///
/// - Throws: `ChildProcessError.notStarted`.
func spawn(
    _ path: String, _ arguments: [String], environment: [String: String], descriptors: [Int32]
) throws(ChildProcessError) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawnattr_init(&attributes)
    defer {
        unsafe posix_spawn_file_actions_destroy(&actions)
        unsafe posix_spawnattr_destroy(&attributes)
    }
    for (number, descriptor) in descriptors.enumerated() {
        unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
    }
    var none = sigset_t()
    var changed = sigset_t()
    unsafe sigemptyset(&none)
    unsafe sigemptyset(&changed)
    for signal in [SIGPIPE, SIGTERM, SIGINT, SIGHUP] { unsafe sigaddset(&changed, signal) }
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &changed)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    let variables = inheritedEnvironment().merging(environment) { $1 }.map { "\($0)=\($1)" }
    var identifier: pid_t = 0
    let status = unsafe withCStrings([path] + arguments) { arguments in
        unsafe withCStrings(variables) { variables in
            unsafe posix_spawn(&identifier, path, &actions, &attributes, arguments, variables)
        }
    }
    guard status == 0 else { throw .notStarted("\(path): \(unsafe String(cString: strerror(status)))") }
    return identifier
}

/// The environment without the variables that configure the daemon.
private func inheritedEnvironment() -> [String: String] {
    ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("ARBITERD_") }
}

private func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers = unsafe texts.map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
    return unsafe body(&pointers)
}
