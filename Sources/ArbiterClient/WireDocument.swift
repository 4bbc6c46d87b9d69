internal import Foundation

/// Reads the JSON of the daemon.
package enum WireDocument {
    /// How many levels of objects and arrays, each within the one before, JSONDecoder of swift-foundation reads.
    package static let deepest = 512

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - bytes: the whole document.
    ///   - name: what it is, for an error.
    /// - Returns: its value.
    /// - Throws: `refused` with `too-deep` if it has more levels than `deepest`; `unreachable` if it is cut off, or no JSON.
    package static func read(_ bytes: some Collection<UInt8>, named name: String) throws(ClientError) -> JSONValue {
        if let document = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)) { return document }
        let (depth, isWhole) = levels(of: bytes)
        guard depth <= deepest else {
            let detail = "\(name) has \(depth) levels of objects and arrays, and this client reads \(deepest) at most"
            throw .refused(Refusal(status: 400, ["code": "too-deep", "detail": .string(detail)]))
        }
        throw .unreachable("\(name) is \(isWhole ? "no JSON" : "cut off")")
    }

    /// How many objects and arrays are nested at the deepest place, and whether there is text in which all of them end.
    package static func levels(of bytes: some Sequence<UInt8>) -> (deepest: Int, isWhole: Bool) {
        var (depth, deepest) = (0, 0)
        var (isText, isEscaped, isEmpty) = (false, false, true)
        for byte in bytes {
            isEmpty = false
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = isText
            case UInt8(ascii: "\""): isText.toggle()
            case _ where isText: break
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                deepest = max(deepest, depth)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
        }
        return (deepest, !isEmpty && depth == 0 && !isText)
    }
}
