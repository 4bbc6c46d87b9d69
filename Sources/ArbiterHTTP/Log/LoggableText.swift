/// A text from a client, made safe for the log: without characters that a terminal or a reader of lines would
/// interpret, and with everything masked that looks like a token.
func loggable(_ text: String) -> String {
    var decoded = text
    // Decoded repeatedly, because a client may have encoded it more than once.
    for _ in 0..<3 where decoded.utf8.contains(UInt8(ascii: "%")) { decoded = leniently(decoded) }
    return String(String.UnicodeScalarView(withoutTokens(decoded).unicodeScalars.map { $0.isObeyed ? "?" : $0 }))
}

/// The same for a path, which may not contain spaces.
func loggablePath(_ path: String) -> String {
    loggable(path).split(separator: " ", omittingEmptySubsequences: false).joined(separator: "%20")
}

/// Decodes the valid percent escapes, and leaves the others.
private func leniently(_ text: String) -> String {
    var octets: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), let high = rest.first?.hexadecimalValue,
            let low = rest.dropFirst().first?.hexadecimalValue
        {
            octets.append(high << 4 | low)
            rest = rest.dropFirst(2)
        } else {
            octets.append(byte)
        }
    }
    return String(decoding: octets, as: UTF8.self)
}

/// Masks each run of hexadecimal digits that is at least as long as a token.
private func withoutTokens(_ text: String) -> String {
    let tokenDigits = 32
    guard text.utf8.count >= tokenDigits else { return text }
    var result = ""
    var run = ""
    func finishRun() {
        result += run.count >= tokenDigits ? "<token>" : run
        run = ""
    }
    for character in text {
        if character.isASCII, character.isHexDigit {
            run.append(character)
        } else {
            finishRun()
            result.append(character)
        }
    }
    finishRun()
    return result
}

extension Unicode.Scalar {
    /// Whether the character has an effect when it is shown: it ends a line, moves the cursor, or changes the
    /// direction.
    fileprivate var isObeyed: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
