/// A response as received.
package struct WireResponse: Sendable, CustomStringConvertible {
    package let status: Int
    /// The header fields in order.
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]

    /// The first field with this name, in upper or lower case.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The body without the line feed at its end.
    package var text: String {
        String(decoding: body.last == UInt8(ascii: "\n") ? body.dropLast() : body[...], as: UTF8.self)
    }

    /// The body as JSON; `null` if it is not JSON.
    package var json: JSONValue { JSONValue(body) ?? .null }

    /// A member of the body.
    package subscript(_ name: String) -> JSONValue { json[name] }

    package var description: String { "\(status) \(text)" }
}

/// Why there is no response.
package enum WireError: Error, Hashable, Sendable {
    /// The connection could not be made: `errno`.
    case notConnected(Int32)
    /// The daemon closed the connection, or reset it, with this much of a response received.
    case closed(received: String)
    /// The deadline passed, with this much of a response received.
    case timedOut(received: String)
    /// The received bytes are not HTTP/1.1.
    case malformed(String)
}
