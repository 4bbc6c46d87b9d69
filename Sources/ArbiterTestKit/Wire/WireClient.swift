internal import Glibc

/// An HTTP/1.1 connection to loopback, or to a Unix socket, that gives a test control over every byte.
///
/// Requests can be sent without reading answers, in pieces or malformed; answers are read with a deadline; and the
/// connection can be closed in every possible way. It belongs to one thread at a time.
package final class WireClient {
    /// The longest time that an answer may take if its request does not wait.
    package static let patience = Duration.seconds(60)

    private var descriptor: Int32
    private var received: [UInt8] = []

    /// - Throws: `WireError.notConnected`.
    package init(port: UInt16) throws(WireError) {
        // Close-on-exec, because a child process with a copy would keep the connection open.
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .notConnected(errno) }
        // Every piece is sent at once.
        set(Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe connect(descriptor, address, size)
            }
        }
        guard status == 0 else { throw .notConnected(errno) }
    }

    /// Connects to a Unix socket.
    ///
    /// - Throws: `WireError.notConnected`.
    package init(path: String) throws(WireError) {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .notConnected(errno) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { room in
            unsafe room.copyBytes(from: path.utf8.prefix(room.count - 1))
        }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let status = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe connect(descriptor, address, size)
            }
        }
        guard status == 0 else { throw .notConnected(errno) }
    }

    deinit { close() }

    private func set<Value: BitwiseCopyable>(_ level: Int32, _ option: Int32, _ value: Value) {
        var value = value
        unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Value>.size))
    }
}

// MARK: - Sending

extension WireClient {
    /// Sends bytes unchanged.
    ///
    /// - Throws: `WireError.closed` if the daemon has closed the connection.
    package func send(_ bytes: some Sequence<UInt8>) throws(WireError) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 || errno == EINTR else { throw .closed(received: receivedText) }
            rest = rest.dropFirst(max(0, count))
        }
    }

    /// Sends a whole request without reading the answer; a body gets its length, and the JSON type unless a header
    /// field gives another.
    ///
    /// - Throws: `WireError.closed` if the daemon has closed the connection.
    package func send(
        _ method: String, _ path: String, headers: [String] = [], body: String? = nil
    ) throws(WireError) {
        var lines = ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1"] + headers
        if let body {
            lines.append("Content-Length: \(body.utf8.count)")
            let saysType = headers.contains { $0.lowercased().hasPrefix("content-type:") }
            if !saysType { lines.append("Content-Type: application/json") }
        }
        let head = lines.joined(separator: "\r\n") + "\r\n\r\n"
        try send((head + (body ?? "")).utf8)
    }

    /// Sends a request and reads its answer.
    ///
    /// - Throws: `WireError`.
    package func request(
        _ method: String, _ path: String, headers: [String] = [], body: String? = nil,
        within limit: Duration = patience
    ) throws(WireError) -> WireResponse {
        try send(method, path, headers: headers, body: body)
        return try receive(within: limit, hasBody: method != "HEAD")
    }
}

// MARK: - Receiving

extension WireClient {
    private var receivedText: String { String(decoding: received, as: UTF8.self) }

    /// Reads the next answer.
    ///
    /// - Parameters:
    ///   - limit: how long it may take.
    ///   - hasBody: `false` for the answer to `HEAD`, which has a length but no body.
    /// - Returns: the answer; possibly an interim one, for example 100.
    /// - Throws: `WireError`.
    package func receive(within limit: Duration = patience, hasBody: Bool = true) throws(WireError) -> WireResponse {
        let deadline = Deadline(after: limit)
        let head = try receiveHead(by: deadline)
        // Interim responses, 204 and 304 have no body.
        guard hasBody, head.status >= 200, head.status != 204, head.status != 304 else { return head }
        var body: [UInt8] = []
        if let length = head.header("Content-Length").flatMap(Int.init) {
            body = try take(length, by: deadline)
        } else if head.header("Transfer-Encoding")?.lowercased() == "chunked" {
            while let chunk = try takeChunk(by: deadline) { body += chunk }
        } else {
            throw .malformed("no length: \(head.headers)")
        }
        return WireResponse(status: head.status, headers: head.headers, body: body)
    }

    /// Reads the head of the next answer, but not its body.
    ///
    /// - Throws: `WireError`.
    package func receiveHead(within limit: Duration = patience) throws(WireError) -> WireResponse {
        try receiveHead(by: Deadline(after: limit))
    }

    /// Reads the next chunk of a chunked body.
    ///
    /// - Returns: the chunk; `nil` at the end of the body.
    /// - Throws: `WireError`.
    package func receiveChunk(within limit: Duration = patience) throws(WireError) -> [UInt8]? {
        try takeChunk(by: Deadline(after: limit))
    }

    private func receiveHead(by deadline: Deadline) throws(WireError) -> WireResponse {
        let first = try takeLine(by: deadline)
        let parts = first.split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, parts[0] == "HTTP/1.1", let status = Int(parts[1]) else { throw .malformed(first) }
        var headers: [(name: String, value: String)] = []
        while true {
            let line = try takeLine(by: deadline)
            if line.isEmpty { return WireResponse(status: status, headers: headers, body: []) }
            guard let colon = line.firstIndex(of: ":") else { throw .malformed(line) }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            headers.append((String(line[..<colon]), String(value)))
        }
    }

    /// Whether the daemon closes the connection, or resets it, before it sends anything else.
    package func isClosedByPeer(within limit: Duration = patience) -> Bool {
        guard received.isEmpty else { return false }
        do throws(WireError) {
            try receiveMore(by: Deadline(after: limit))
            return false
        } catch {
            if case .closed = error { return true }
            return false
        }
    }

    /// Reads everything until the daemon closes the connection.
    ///
    /// - Throws: `WireError.timedOut` if it does not close it in time.
    package func receiveUntilClosed(within limit: Duration = patience) throws(WireError) -> String {
        let deadline = Deadline(after: limit)
        while true {
            do throws(WireError) {
                try receiveMore(by: deadline)
            } catch .closed(let everything) {
                return everything
            }
        }
    }

    /// Whether there are bytes that have not been read yet.
    package var hasAnswer: Bool {
        !received.isEmpty || Deadline(after: .zero).wait(for: descriptor, toDo: Int32(POLLIN))
    }

    private func takeChunk(by deadline: Deadline) throws(WireError) -> [UInt8]? {
        let line = try takeLine(by: deadline)
        guard let size = Int(line, radix: 16) else { throw .malformed(line) }
        let chunk = try take(size, by: deadline)
        guard try takeLine(by: deadline).isEmpty else { throw .malformed("a chunk has another size than it says") }
        return size == 0 ? nil : chunk
    }

    private func takeLine(by deadline: Deadline) throws(WireError) -> String {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = received[..<end]
                received.removeFirst(end + 1)
                guard line.last == UInt8(ascii: "\r") else { throw .malformed("a line without carriage return") }
                return String(decoding: line.dropLast(), as: UTF8.self)
            }
            try receiveMore(by: deadline)
        }
    }

    private func take(_ count: Int, by deadline: Deadline) throws(WireError) -> [UInt8] {
        while received.count < count { try receiveMore(by: deadline) }
        defer { received.removeFirst(count) }
        return Array(received.prefix(count))
    }

    private func receiveMore(by deadline: Deadline) throws(WireError) {
        guard deadline.wait(for: descriptor, toDo: Int32(POLLIN)) else { throw .timedOut(received: receivedText) }
        let room = 64 * 1024
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            unsafe count = max(0, recv(descriptor, buffer.baseAddress, room, 0))
        }
        guard !bytes.isEmpty else { throw .closed(received: receivedText) }
        received += bytes
    }
}

// MARK: - Closing

extension WireClient {
    /// Closes the connection normally.
    package func close() {
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
    }

    /// Resets the connection.
    package func reset() {
        set(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
        close()
    }

    /// Closes the sending side; answers can still be read.
    package func closeSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }
}
