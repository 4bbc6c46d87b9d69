internal import ArbiterEngine
internal import ArbiterHTTP
internal import ArbiterRelay
internal import CLinux
internal import Foundation
internal import Glibc

/// The service manager that has started the daemon and wants to know how it is (sd_notify(3)).
///
/// systemd is the usual one. What is sent is a datagram of lines `NAME=value`, so no library is needed. Without a service
/// manager nothing is sent.
final class ServiceManager: Sendable {
    /// The name of its socket, a path, or `@` and an abstract name; `nil` if there is none.
    private let socket: String?
    /// What an operator sees while the daemon serves requests.
    private let status: String
    /// How often it wants a sign of life; `nil` if it does not watch.
    private let interval: Duration?
    /// Signs of life are sent by its queue, so that a service manager that does not read delays no commit.
    private let alarm = SystemAlarm()

    /// The service manager that the environment names.
    init(status: String, _ environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.status = status
        // There are other kinds of addresses, which only virtual machines use.
        socket = environment["NOTIFY_SOCKET"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
        interval = socket == nil ? nil : Self.interval(environment)
    }

    /// Half of the time after which a silent daemon is killed, as sd_watchdog_enabled(3) recommends.
    private static func interval(_ environment: [String: String]) -> Duration? {
        // The variables may be meant for a process that has started this one.
        let process = environment["WATCHDOG_PID"]
        guard process == nil || process == "\(getpid())",
            let microseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init), 2...1 << 50 ~= microseconds
        else { return nil }
        return .microseconds(microseconds / 2)
    }

    /// The daemon serves requests; from now on the answers of its engines are signs of life.
    func ready(watching shards: Shards) {
        tell("READY=1", "STATUS=\(status)")
        if let interval { beat(shards, every: interval) }
    }

    /// The daemon drains.
    func stopping() {
        tell("STOPPING=1", "STATUS=draining")
    }

    /// Runs the body, which reads files again, and says when it begins and when it has ended.
    func reload(_ body: () -> Void) {
        var time = timespec()
        let isRead = unsafe clock_gettime(CLOCK_MONOTONIC, &time) == 0
        precondition(isRead, "the monotonic clock cannot be read")
        let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
        tell("RELOADING=1", "MONOTONIC_USEC=\(microseconds)")
        body()
        tell("READY=1", "STATUS=\(status)")
    }

    /// Asks an engine at intervals, and gives a sign of life when it has answered, or if there is none at the moment.
    ///
    /// The answer waits for the lock of the engine and for the commit of what was requested before. So the signs end if
    /// either hangs. If the journal cannot be written for now, that is an answer too, since the engine recovers by itself.
    private func beat(_ shards: Shards, every interval: Duration) {
        alarm.ring(after: interval) { [self] in
            let goOn = { @Sendable [self] in
                alarm.ring(after: .zero) { [self] in
                    tell("WATCHDOG=1")
                    beat(shards, every: interval)
                }
            }
            guard let engine = shards.here.first else { return goOn() }
            engine.read { _, _ in
                true
            } completion: { _ in
                goOn()
            }
        }
    }

    /// Sends lines; an error cannot be reported to anybody who would act on it.
    private func tell(_ lines: String...) {
        guard let socket else { return }
        let message = lines.joined(separator: "\n")
        _ = unsafe arbiter_send_datagram(socket, message, message.utf8.count)
    }
}
