internal import Foundation
internal import Glibc

/// The signals that end the daemon or have it read its files again, received by waiting for them, without a signal handler.
enum Signals {
    private static let ending = [SIGTERM, SIGINT]
    private static let reloading = SIGHUP

    /// Blocks the signals; to be called before threads are started, because they inherit the mask.
    static func block() {
        signal(SIGPIPE, SIG_IGN)
        // A file that may not grow fails like a full disk.
        signal(SIGXFSZ, SIG_IGN)
        var set = set()
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Waits for one of the signals that end the daemon; after that, another one ends the process at once.
    ///
    /// - Parameter reload: called for each SIGHUP before that.
    /// - Returns: the name of the signal.
    static func waitForFirst(whenAskedToReload reload: () -> Void) -> String {
        var first = waitForAny()
        while first == reloading {
            reload()
            first = waitForAny()
        }
        let thread = Thread {
            var signal = waitForAny()
            while signal == reloading { signal = waitForAny() }
            _exit(128 + signal)
        }
        thread.name = "arbiterd.signals"
        thread.start()
        return first == SIGTERM ? "SIGTERM" : "SIGINT"
    }

    /// Ends the wait like a signal would.
    static func interrupt() {
        kill(getpid(), SIGTERM)
    }

    private static func waitForAny() -> Int32 {
        var set = set()
        var signal: Int32 = 0
        while unsafe sigwait(&set, &signal) != 0 {}
        return signal
    }

    private static func set() -> sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for signal in ending + [reloading] { unsafe sigaddset(&set, signal) }
        return set
    }
}
