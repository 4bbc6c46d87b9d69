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

    /// The text of a C string.
    func text(_ characters: UnsafePointer<CChar>) -> String {
        let count = unsafe strlen(characters)
        for text in texts where text.utf8.count == count {
            let isSame = unsafe text.withCString { unsafe memcmp($0, characters, count) == 0 }
            if isSame { return text }
        }
        return unsafe String(cString: characters)
    }
}
