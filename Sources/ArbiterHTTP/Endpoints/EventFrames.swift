/// Divides a stream of server-sent events into its frames: what stands between two empty lines.
struct EventFrames {
    /// The longest frame, in bytes: a reset with a whole scene fits.
    static let limit = 32 << 20

    /// One frame: an event, a position, or a comment.
    struct Frame: Hashable, Sendable {
        /// The name of the event; `nil` if it has none.
        var name: String?
        /// The id, which is a place in the stream.
        var id: String?
        /// Its lines without the id, each with its end; empty if it has no data.
        var lines: ArraySlice<UInt8> = []
        /// Whether it has comments only.
        var isComment = true
    }

    private var bytes: [UInt8] = []
    /// Up to where no frame ends.
    private var searched = 0

    /// Whether what has arrived is longer than a frame can be.
    var isTooLong: Bool { bytes.count > Self.limit }

    /// Adds what has arrived.
    ///
    /// - Parameter arrived: the next bytes of the stream.
    /// - Returns: the frames that are whole now.
    mutating func append(_ arrived: ArraySlice<UInt8>) -> [Frame] {
        bytes += arrived
        var (frames, start) = ([Frame](), 0)
        var index = max(searched, 1)
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "\n"), bytes[index - 1] == UInt8(ascii: "\n") {
                if index > start { frames.append(Frame(bytes[start..<index])) }
                start = index + 1
            }
            index += 1
        }
        bytes.removeFirst(start)
        searched = bytes.count
        return frames
    }
}

extension EventFrames.Frame {
    /// Reads the lines of a frame.
    ///
    /// - Parameter text: the lines, each with its end.
    fileprivate init(_ text: ArraySlice<UInt8>) {
        var hasData = false
        for line in text.split(separator: UInt8(ascii: "\n")) {
            if line.first != UInt8(ascii: ":") { isComment = false }
            if let id = line.value(of: "id: ") {
                self.id = id
                continue
            }
            if let name = line.value(of: "event: ") { self.name = name }
            if line.starts(with: "data:".utf8) { hasData = true }
            lines += line
            lines.append(UInt8(ascii: "\n"))
        }
        if !hasData { lines = [] }
    }
}

extension ArraySlice<UInt8> {
    fileprivate func value(of field: String) -> String? {
        guard starts(with: field.utf8) else { return nil }
        return String(decoding: dropFirst(field.utf8.count), as: UTF8.self)
    }
}
