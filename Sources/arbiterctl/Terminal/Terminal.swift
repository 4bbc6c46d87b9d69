internal import CLinux
internal import Foundation

/// Where output goes: a terminal, on which it may be coloured and drawn again, or a file or pipe, which gets plain lines.
struct Terminal: Sendable {
    private let descriptor: Int32
    let isTerminal: Bool
    private let hasColour: Bool

    static let output = Terminal(STDOUT_FILENO)
    static let error = Terminal(STDERR_FILENO)

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) != 0
        let environment = ProcessInfo.processInfo.environment
        // https://no-color.org
        hasColour = isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// How text looks, by its code in ECMA-48.
    enum Style: Int {
        case bold = 1
        case dim = 2
        case red = 31
        case green = 32
        case yellow = 33
        case cyan = 36
    }

    /// The text in a style, if colours are shown.
    func styled(_ text: String, _ style: Style) -> String {
        hasColour ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// The columns and rows; 80 and 24 if they are not known.
    var size: (columns: Int, rows: Int) {
        var (columns, rows): (CInt, CInt) = (0, 0)
        unsafe arbiter_terminal_size(descriptor, &columns, &rows)
        return columns > 0 && rows > 0 ? (Int(columns), Int(rows)) : (80, 24)
    }

    /// Writes text as it is; ends the process if nobody reads it any more, or if standard output cannot be written.
    func write(_ text: String) {
        var bytes = ArraySlice(text.utf8)
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            // As with SIGPIPE: `arbiterctl watch | head` ends quietly.
            if count < 0, errno == EPIPE { exit(128 + SIGPIPE) }
            guard count > 0 else { return cannotWrite(errno) }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Output that is missing is a failure; words on standard error that nobody can get are not.
    private func cannotWrite(_ reason: Int32) {
        guard descriptor == STDOUT_FILENO else { return }
        Exit.tell("standard output: \(unsafe String(cString: strerror(reason)))")
        exit(Exit.failed)
    }

    func line(_ text: String) { write(text + "\n") }

    func lines(_ texts: [String]) { for text in texts { line(text) } }
}

extension String {
    /// The text without characters that a terminal acts on: names are other people's.
    var printable: String {
        guard unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return self }
        return String(
            String.UnicodeScalarView(
                unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }))
    }

    /// The text with spaces behind it, so that it has so many characters.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - count))
    }

    /// Its first characters, the last of them an ellipsis if something is missing.
    func shortened(to width: Int) -> String {
        count <= width ? self : prefix(Swift.max(0, width - 1)) + "…"
    }
}
