internal import ArbiterEngine
internal import Foundation
internal import Glibc

/// An HTTP/1.1 server on loopback that answers as a test says, also by silence or by closing the connection.
package final class StubServer: Sendable {
    /// A request that has arrived.
    package struct Request: Hashable, Sendable {
        package let method: String
        /// The path with the query.
        package let target: String
        /// The lines of its header, without the request line.
        package let fields: [String]
        package let body: String

        /// The value of a field of the header.
        package func value(of name: String) -> String? {
            let prefix = name.lowercased() + ": "
            return fields.first { $0.lowercased().hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
        }
    }

    /// What happens to a request.
    package enum Reaction: Sendable {
        case answer(status: Int, fields: [String] = [], body: String = "")
        /// The beginning of an answer that never ends.
        case beginning(fields: [String], body: String)
        /// The connection stays open, and nothing is sent.
        case silence
        /// The connection is closed.
        case close
    }

    package typealias Handler = @Sendable (Request) -> Reaction

    package let port: UInt16
    private let descriptor: Int32
    private let handler: Handler
    private let state = Guarded(State())

    private struct State {
        var requests: [Request] = []
        var sentCount = 0
        var connections: [Int32] = []
        var isOver = false
    }

    /// Listens until `stop`.
    ///
    /// - Parameter handler: what happens to each request; called on the thread of its connection.
    package init(_ handler: @escaping Handler) {
        self.handler = handler
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let status = unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, size) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        precondition(status, "no server on loopback: \(errno)")
        port = UInt16(bigEndian: address.sin_port)
        // The threads end with `stop`.
        Thread.detachNewThread { [self] in accept() }
    }

    /// Where it is reached.
    package var address: String { "http://127.0.0.1:\(port)" }

    /// Every request that has arrived, in their order.
    package var requests: [Request] { state.withLock { $0.requests } }

    /// How many answers, whole or not, the system has taken to the last byte.
    package var sentCount: Int { state.withLock { $0.sentCount } }

    /// How many connections were accepted.
    package var connectionCount: Int { state.withLock { $0.connections.count } }

    /// Closes all connections, and accepts no more.
    package func stop() {
        let connections = state.withLock { state in
            state.isOver = true
            return state.connections
        }
        for connection in connections { shutdown(connection, Int32(SHUT_RDWR)) }
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private func accept() {
        while true {
            let connection = Glibc.accept(descriptor, nil, nil)
            guard connection >= 0 else { break }
            let isOver = state.withLock { state in
                state.connections.append(connection)
                return state.isOver
            }
            if isOver { shutdown(connection, Int32(SHUT_RDWR)) }
            Thread.detachNewThread { [self] in serve(connection) }
        }
        close(descriptor)
    }

    private func serve(_ connection: Int32) {
        var received: [UInt8] = []
        while let request = Self.request(from: connection, &received) {
            state.withLock { $0.requests.append(request) }
            switch handler(request) {
            case .answer(let status, let fields, let body):
                let length = "Content-Length: \(body.utf8.count)"
                Self.send(
                    ["HTTP/1.1 \(status) Stub", length] + fields, request.method == "HEAD" ? "" : body, connection)
            case .beginning(let fields, let body):
                Self.send(["HTTP/1.1 200 Stub"] + fields, body, connection)
            case .silence: continue
            case .close:
                shutdown(connection, Int32(SHUT_RDWR))
                return
            }
            state.withLock { $0.sentCount += 1 }
        }
    }

    private static func send(_ lines: [String], _ body: String, _ connection: Int32) {
        let bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
        _ = unsafe bytes.withUnsafeBytes { bytes in
            unsafe Glibc.send(connection, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        }
    }

    /// Reads a request; `nil` at the end of the connection.
    private static func request(from connection: Int32, _ received: inout [UInt8]) -> Request? {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let range = received.firstRange(of: end) {
                let lines = String(decoding: received[..<range.lowerBound], as: UTF8.self).split(separator: "\r\n")
                    .map(String.init)
                let words = (lines.first ?? "").split(separator: " ").map(String.init)
                let length = lines.first { $0.lowercased().hasPrefix("content-length: ") }
                    .flatMap { Int($0.dropFirst(16)) }
                if words.count == 3, received.count >= range.upperBound + (length ?? 0) {
                    let body = received[range.upperBound..<range.upperBound + (length ?? 0)]
                    defer { received.removeFirst(range.upperBound + (length ?? 0)) }
                    return Request(
                        method: words[0], target: words[1], fields: Array(lines.dropFirst()),
                        body: String(decoding: body, as: UTF8.self))
                }
            }
            let room = 64 * 1024
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                unsafe count = max(0, recv(connection, buffer.baseAddress, room, 0))
            }
            guard !bytes.isEmpty else { return nil }
            received += bytes
        }
    }
}
