/// What has happened last, and a digest of everything.
struct Transcript {
    private static let kept = 60

    /// Whether every line is printed.
    var isTraced = false
    private(set) var lines: [String] = []
    /// FNV-1a of all lines.
    private(set) var digest: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func note(_ line: String) {
        for byte in line.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
        if isTraced { print(line) }
        lines.append(line)
        if lines.count > 2 * Self.kept { lines.removeFirst(Self.kept) }
    }

    var last: [String] { lines.suffix(Self.kept) }
}
