/// A text with JSON in it that is written piece by piece, as it is taken: it holds what it tells of, never all of its text.
struct JSONDocument: Sendable {
    /// One part of it behind the other.
    enum Part: Sendable {
        /// Members, brackets, and whatever else is short.
        case brief(@Sendable (inout JSONWriter) -> Void)
        /// One of these after the other, each of them short.
        case each(Range<Int>, @Sendable (inout JSONWriter, Int) -> Void)
        case hierarchy(HierarchyWriter)
    }

    private var writer = JSONWriter(capacity: 0)
    /// What is still to be written, the next of it last.
    private var parts: [Part]

    init(_ parts: [Part]) {
        self.parts = parts.reversed()
    }

    /// Whether everything has been taken.
    var isOver: Bool { parts.isEmpty }

    /// Writes what comes next.
    ///
    /// - Parameter count: how many bytes are enough; what is short is not broken off, so that there may be a few more.
    /// - Returns: fewer bytes only at the end.
    mutating func take(atLeast count: Int) -> [UInt8] {
        while writer.bytes.count < count, let part = parts.popLast() {
            if let rest = part.write(to: &writer, until: count) { parts.append(rest) }
        }
        defer { writer.bytes = [] }
        return writer.bytes
    }
}

extension JSONDocument.Part {
    /// Writes until there are so many bytes.
    ///
    /// - Returns: what is left of it.
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

    /// An array as a member, each of whose elements is short.
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
    /// Writes all parts, to their end.
    mutating func write(_ parts: [JSONDocument.Part]) {
        for part in parts { _ = part.write(to: &self, until: .max) }
    }
}
