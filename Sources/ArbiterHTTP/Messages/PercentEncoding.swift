/// RFC 3986, section 2.1.
enum PercentEncoding {
    /// - Returns: `nil` if a percent sign lacks its two digits, or the octets are not UTF-8.
    static func decode(_ text: some StringProtocol) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        var octets: [UInt8] = []
        var bytes = text.utf8.makeIterator()
        while let byte = bytes.next() {
            guard byte == UInt8(ascii: "%") else {
                octets.append(byte)
                continue
            }
            guard let high = bytes.next()?.hexadecimalValue, let low = bytes.next()?.hexadecimalValue
            else { return nil }
            octets.append(high << 4 | low)
        }
        return String(validating: octets, as: UTF8.self)
    }

    /// Writes a text so that it can be the value of a parameter of a query, or a segment of a path.
    static func encode(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var octets: [UInt8] = []
        for byte in text.utf8 {
            if byte.isUnreserved {
                octets.append(byte)
            } else {
                octets += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: octets, as: UTF8.self)
    }

    /// The path of a request target: without scheme and authority, where a proxy is addressed (RFC 9112, section 3.2.2),
    /// and with every octet written plainly that need not be encoded (RFC 3986, section 6.2.2.2).
    static func path(ofTarget target: String) -> String {
        guard target.utf8.first != UInt8(ascii: "/") || target.utf8.contains(UInt8(ascii: "%")) else { return target }
        var rest = target[...]
        if let afterScheme = afterScheme(ofTarget: target) {
            rest = afterScheme.drop { $0 != "/" }
            if rest.isEmpty { rest = "/" }
        }
        var parts = rest.split(separator: "%", omittingEmptySubsequences: false)
        for index in parts.indices.dropFirst() {
            guard let octet = decode("%" + parts[index].prefix(2)), octet.utf8.count == 1,
                octet.utf8.allSatisfy(\.isUnreserved)
            else {
                parts[index] = "%" + parts[index]
                continue
            }
            parts[index] = octet + parts[index].dropFirst(2)
        }
        return parts.joined()
    }

    /// The host and port of an absolute request target; `nil` for any other target.
    static func authority(ofTarget target: String) -> Substring? {
        guard target.utf8.first != UInt8(ascii: "/") else { return nil }
        return afterScheme(ofTarget: target)?.prefix { $0 != "/" }
    }

    private static func afterScheme(ofTarget target: String) -> Substring? {
        let scheme = ["http://", "https://"].first { target.lowercased().hasPrefix($0) }
        return scheme.map { target.dropFirst($0.count) }
    }
}

extension UInt8 {
    /// Letters, digits, `-`, `.`, `_` and `~` (RFC 3986, section 2.3).
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default:
            isDigit
        }
    }
}
