internal import Foundation

/// The executables of the same build; `ARBITER_DAEMON` names another daemon to test.
enum BuildProducts {
    /// The path of an executable in the directory of the running one.
    static func path(of name: String) -> String {
        if name == "arbiterd", let other = ProcessInfo.processInfo.environment["ARBITER_DAEMON"] { return other }
        let running = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        return running.deletingLastPathComponent().appendingPathComponent(name).path
    }
}
