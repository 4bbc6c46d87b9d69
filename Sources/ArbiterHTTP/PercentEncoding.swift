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
}
