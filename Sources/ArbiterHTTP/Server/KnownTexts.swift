internal import Glibc

/// Texts that many requests contain; no memory is allocated for a string that is one of them.
struct KnownTexts: Sendable {
    private let texts: [String]

    private init(_ texts: [String]) {
        self.texts = texts
    }

    /// The paths of the calls that clients make for every transition.
    static let paths = KnownTexts([
        "/transitions/start", "/transitions/end", "/transitions/serialize", "/transitions/await", "/transitions/renew",
        "/transitions/progress", "/transitions/release", "/transitions/ready",
    ])

    /// Values of header fields.
    static let values = KnownTexts(["application/json", "application/json; charset=utf-8"])

    /// The text of these bytes.
    func text(_ bytes: UnsafeRawBufferPointer) -> String {
        guard let start = bytes.baseAddress else { return "" }
        for text in texts where text.utf8.count == bytes.count {
            let isSame = unsafe text.withCString { unsafe memcmp($0, start, bytes.count) == 0 }
            if isSame { return text }
        }
        return unsafe String(decoding: bytes, as: UTF8.self)
    }
}
