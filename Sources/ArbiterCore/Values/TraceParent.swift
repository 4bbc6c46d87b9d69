/// The place of a request in a trace of several processes (https://www.w3.org/TR/trace-context/): the text of
/// `traceparent`, of version 00.
package struct TraceParent: CheckedName {
    package static var kind: String { "a traceparent" }
    package static var rule: String { "00-, 32 hexadecimal digits, -, 16 of them, - and 2 of them" }
    package let description: String

    package init(unchecked text: String) { description = text }

    package static func isValid(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [2, 32, 16, 2], parts[0].elementsEqual("00".utf8) else { return false }
        let areDigits = parts.dropFirst().allSatisfy { $0.allSatisfy(\.isLowerHexadecimal) }
        let zero = UInt8(ascii: "0")
        // An id of zeros only is invalid.
        return areDigits && parts[1].contains { $0 != zero } && parts[2].contains { $0 != zero }
    }

    /// The id of the whole trace: 32 hexadecimal digits.
    package var traceID: String { String(description.dropFirst(3).prefix(32)) }
}

extension UInt8 {
    fileprivate var isLowerHexadecimal: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }
}
