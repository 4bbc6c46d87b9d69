/// A text of a client's, as a log may show it: without control characters, which a terminal would obey, and without what
/// looks like a token.
func loggable(_ text: String) -> String {
    let masked = withoutTokens(PercentEncoding.decode(text) ?? text)
    return String(
        String.UnicodeScalarView(masked.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : $0 }))
}

/// Puts a mask in the place of each run of hexadecimal digits that is at least as long as a token.
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
