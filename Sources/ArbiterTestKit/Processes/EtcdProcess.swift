internal import Foundation
internal import Glibc

/// A real etcd of one member, started on free ports and ready; killed on `deinit`.
package final class EtcdProcess {
    package let process: ChildProcess
    /// Where clients reach it.
    package let endpoint: String
    private let directory: TemporaryDirectory

    /// Where Debian's package etcd-server puts it.
    package static let executable = "/usr/bin/etcd"

    /// Starts etcd and waits until it says that it is ready.
    ///
    /// - Parameter arguments: further arguments of the command line.
    /// - Throws: `ChildProcessError` if it does not become ready.
    package init(_ arguments: [String] = []) throws {
        directory = try TemporaryDirectory()
        let notifications = try NotificationSocket(directory.path + "/ready")
        var (process, endpoint) = try Self.start(arguments, in: directory.path, notifying: notifications)
        // Another process may take a free port before etcd does, which ends etcd.
        while try !Self.isReady(process, notifications) {
            (process, endpoint) = try Self.start(arguments, in: directory.path, notifying: notifications)
        }
        (self.process, self.endpoint) = (process, endpoint)
    }

    private static func start(
        _ arguments: [String], in directory: String, notifying notifications: NotificationSocket
    ) throws -> (ChildProcess, endpoint: String) {
        let endpoint = "http://127.0.0.1:\(try freePort())"
        let peers = "http://127.0.0.1:\(try freePort())"
        let process = try ChildProcess(
            executable,
            [
                "--data-dir", "\(directory)/data-\(endpoint.suffix(5))", "--listen-client-urls", endpoint,
                "--advertise-client-urls", endpoint, "--listen-peer-urls", peers,
                "--initial-advertise-peer-urls", peers, "--initial-cluster", "default=\(peers)", "--logger", "zap",
                "--log-outputs", "stderr", "--log-level", "warn",
            ] + arguments, environment: ["NOTIFY_SOCKET": notifications.name])
        return (process, endpoint)
    }

    /// Waits until etcd is ready, or has ended.
    ///
    /// - Returns: whether it is ready; if not, its port was taken by another process.
    /// - Throws: `ChildProcessError` if it ends for another reason, or does neither.
    private static func isReady(_ process: ChildProcess, _ notifications: NotificationSocket) throws -> Bool {
        let settles = eventually(within: WireClient.patience) {
            notifications.hasMessage || (try? process.waitForExit(within: .zero)) != nil
        }
        if notifications.hasMessage, try notifications.receive().contains("READY=1") { return true }
        guard settles, process.standardError.contains("address already in use") else {
            throw ChildProcessError.notStarted("etcd: \(process.standardError)")
        }
        return false
    }

    /// Stops it, and waits until all of it stands still; `SIGCONT` lets it go on.
    ///
    /// - Throws: `ChildProcessError.timedOut`.
    package func pause() throws(ChildProcessError) {
        process.signal(SIGSTOP)
        let path = "/proc/\(process.identifier)/task"
        let stands = eventually {
            let threads = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
            return threads.allSatisfy { thread in
                let status = try? String(contentsOfFile: "\(path)/\(thread)/stat", encoding: .utf8)
                return status?.split(separator: ") ").last?.hasPrefix("T") == true
            }
        }
        guard stands else { throw .timedOut("etcd does not stop") }
    }

    /// A port that nobody listens on.
    private static func freePort() throws(ChildProcessError) -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, size) == 0 ? unsafe getsockname(descriptor, address, &size) : -1
            }
        }
        guard status == 0 else { throw .notStarted("there is no free port") }
        return UInt16(bigEndian: address.sin_port)
    }
}
