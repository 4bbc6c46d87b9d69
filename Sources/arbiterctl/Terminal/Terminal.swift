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

    /// Takes the numbers of standard streams that are closed, so that no connection gets them, and text into it.
    ///
    /// What is opened in their place cannot be used, and is not passed on to a command.
    static func holdClosed() {
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(descriptor, F_GETFD) == -1 {
            _ = unsafe open("/dev/null", mode | O_CLOEXEC)
        }
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
        guard let reason = writing(text) else { return }
        // As with SIGPIPE: `arbiterctl watch | head` ends quietly.
        if reason == EPIPE { exit(128 + SIGPIPE) }
        // Output that is missing is a failure; words on standard error that nobody can get are not.
        guard descriptor == STDOUT_FILENO else { return }
        let failure = Failure(output: reason)
        Exit.tell(failure.text)
        exit(failure.code)
    }

    /// Writes a line of standard output that must not be lost.
    ///
    /// - Throws: `Failure` if it cannot be written, or if nobody reads it any more.
    func deliver(_ line: String) throws(Failure) {
        // A pipe that nobody reads fails then, instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        if let reason = writing(line + "\n") { throw Failure(output: reason) }
    }

    /// - Returns: the number of the error; `nil` if everything is written.
    private func writing(_ text: String) -> Int32? {
        var bytes = ArraySlice(text.utf8)
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return errno }
            bytes = bytes.dropFirst(count)
        }
        return nil
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
