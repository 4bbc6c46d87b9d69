/// What the header fields that name media types say (RFC 9110, sections 8.3 and 12.5.1).
enum MediaType {
    /// Whether a `Content-Type` is JSON in UTF-8, or says by its suffix that it is written in it (RFC 6839, section 3.1).
    static func isJSON(_ contentType: String) -> Bool {
        if contentType == "application/json" { return true }
        let (type, parameters) = parsed(contentType[...])
        guard type == "application/json" || type.hasSuffix("+json") && isType(type) else { return false }
        return parameters.allSatisfy { name, value in name != "charset" || value == "utf-8" }
    }

    /// Whether a text is a type and a subtype, which are tokens (RFC 9110, section 5.6.2).
    private static func isType(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty && $0 != "+json" && $0.utf8.allSatisfy(isOfToken) }
    }

    private static func isOfToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// Whether an `Accept` lets a type through, given as `type/subtype`: the most specific range that fits decides.
    static func accepts(_ accept: String, _ contentType: String) -> Bool {
        let kind = contentType.prefix { $0 != "/" }
        var best: (specificity: Int, isAccepted: Bool) = (0, false)
        for range in accept.split(separator: ",") {
            let (type, parameters) = parsed(range)
            let specificity: Int
            switch type {
            case contentType: specificity = 3
            case "\(kind)/*": specificity = 2
            case "*/*": specificity = 1
            default: continue
            }
            let isRefused = parameters.contains { name, value in name == "q" && Double(value) == 0 }
            if specificity > best.specificity { best = (specificity, !isRefused) }
        }
        return best.isAccepted
    }

    /// The type in lower case, and its parameters with name and value in lower case and without quotes.
    private static func parsed(_ text: Substring) -> (String, [(String, String)]) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false).map { trimmed($0).lowercased() }
        let parameters = parts.dropFirst().map { part in
            let name = part.prefix { $0 != "=" }
            let value = part.dropFirst(name.count + 1).filter { $0 != "\"" }
            return (trimmed(name), trimmed(value[...]))
        }
        return (parts.first ?? "", parameters)
    }

    private static func trimmed(_ text: Substring) -> String {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        var text = text.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return String(text)
    }
}
