internal import Glibc

/// A socket on which a test is the service manager of a daemon, and hears how the daemon is (sd_notify(3)).
package final class NotificationSocket {
    private let descriptor: Int32
    /// What the daemon finds in `NOTIFY_SOCKET`.
    package let name: String

    /// - Parameter name: the path of the socket, or `@` and an abstract name.
    /// - Throws: `WireError.notConnected` if there can't be such a socket.
    package init(_ name: String) throws(WireError) {
        self.name = name
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .notConnected(errno) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isAbstract = name.hasPrefix("@")
        let bytes = isAbstract ? [0] + Array(name.utf8.dropFirst()) : Array(name.utf8) + [0]
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { room in
            unsafe room.copyBytes(from: bytes.prefix(room.count))
        }
        // An abstract name has exactly as many bytes as the size says.
        let size = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let status = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, size)
            }
        }
        guard status == 0 else {
            let code = errno
            close(descriptor)
            throw .notConnected(code)
        }
    }

    deinit { close(descriptor) }

    /// Waits for the next message.
    ///
    /// - Returns: its lines.
    /// - Throws: `WireError.timedOut` if none comes.
    package func receive(within limit: Duration = WireClient.patience) throws(WireError) -> [String] {
        guard let message = next(within: limit) else { throw .timedOut(received: "") }
        return message
    }

    /// Whether there is a message that has not been received.
    package var hasMessage: Bool { Deadline(after: .zero).wait(for: descriptor, toDo: Int32(POLLIN)) }

    private func next(within limit: Duration) -> [String]? {
        guard Deadline(after: limit).wait(for: descriptor, toDo: Int32(POLLIN)) else { return nil }
        let room = 4096
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            unsafe count = max(0, recv(descriptor, buffer.baseAddress, room, 0))
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
