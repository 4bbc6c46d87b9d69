/// A JSON text that is written piece by piece when it is sent, so that it is never in memory as a whole.
struct JSONDocument: Sendable {
    /// A section of the document.
    enum Part: Sendable {
        /// Members, brackets and other short text.
        case brief(@Sendable (inout JSONWriter) -> Void)
        /// Elements that are written one after the other, each of them short.
        case each(Range<Int>, @Sendable (inout JSONWriter, Int) -> Void)
        case hierarchy(HierarchyWriter)
    }

    private var writer = JSONWriter(capacity: 0)
    /// The parts that remain, in reverse order.
    private var parts: [Part]
    /// What it tells takes so many bytes in memory, estimated.
    let byteCount: Int

    /// - Parameters:
    ///   - parts: the sections, in their order.
    ///   - byteCount: what they keep in memory until they are written, estimated.
    init(_ parts: [Part], keeping byteCount: Int) {
        self.parts = parts.reversed()
        self.byteCount = byteCount
    }

    /// Whether the whole document has been taken.
    var isOver: Bool { parts.isEmpty }

    /// Takes the next piece.
    ///
    /// - Parameter count: the number of bytes to write at least. A short part is not split, so there may be a few more.
    /// - Returns: at least `count` bytes, except at the end.
    mutating func take(atLeast count: Int) -> [UInt8] {
        while writer.bytes.count < count, let part = parts.popLast() {
            if let rest = part.write(to: &writer, until: count) { parts.append(rest) }
        }
        defer { writer.bytes = [] }
        return writer.bytes
    }
}

extension JSONDocument.Part {
    /// Writes until the writer has `count` bytes.
    ///
    /// - Returns: the rest of the document; `nil` if there is none.
    consuming func write(to writer: inout JSONWriter, until count: Int) -> Self? {
        switch consume self {
        case .brief(let write):
            write(&writer)
            return nil
        case .each(var range, let write):
            while let index = range.first, writer.bytes.count < count {
                write(&writer, index)
                range = range.dropFirst()
            }
            return range.isEmpty ? nil : .each(range, write)
        case .hierarchy(var nodes):
            nodes.write(to: &writer, until: count)
            return nodes.isOver ? nil : .hierarchy(nodes)
        }
    }

    /// A member that is an array of short elements.
    static func array<Element: Sendable>(
        _ name: StaticString, _ elements: [Element], _ write: @escaping @Sendable (inout JSONWriter, Element) -> Void
    ) -> [Self] {
        [
            .brief { writer in
                writer.begin(name)
                writer.beginArray()
            },
            .each(elements.indices) { writer, index in
                writer.beginElement()
                write(&writer, elements[index])
            },
            .brief { $0.endArray() },
        ]
    }
}

extension JSONWriter {
    /// Writes all parts completely.
    mutating func write(_ parts: [JSONDocument.Part]) {
        for part in parts { _ = part.write(to: &self, until: .max) }
    }
}
