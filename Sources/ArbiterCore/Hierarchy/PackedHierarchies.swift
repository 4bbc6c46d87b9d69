/// Hierarchies to insert, packed into about as many bytes as the request had.
///
/// An unpacked controller takes a few hundred bytes, and thousands of tickets may wait with thousands of controllers
/// each. Each controller is written before those below it: a byte of flags, the length of its id, the id, the fields
/// that the flags announce, and the number of its children if its kind does not determine it. The ids of pushed columns come
/// after those.
struct PackedHierarchies: Hashable, Sendable {
    private(set) var bytes: [UInt8] = []

    private enum Flag {
        /// The two lowest bits: the index of the kind in `ControllerKind.allCases`.
        static let kind: UInt8 = 0b11
        static let hasStyle: UInt8 = 1 << 2
        static let definesContext: UInt8 = 1 << 3
        static let hasIntroduction: UInt8 = 1 << 4
        static let presents: UInt8 = 1 << 5
        static let isCollapsed: UInt8 = 1 << 6
    }

    /// The columns of a split besides the primary one.
    private enum ColumnFlag {
        static let hasSupplementary = 1
        static let hasSecondary = 2
        static let children = hasSupplementary | hasSecondary
        static let isTriple = 4
        static let hasPushedSupplementary = 8
        static let hasPushedSecondary = 16
    }

    init(_ hierarchies: [Hierarchy]) {
        for hierarchy in hierarchies {
            for controller in hierarchy.preorder { write(controller) }
        }
        // Tickets may wait for long, so the unused capacity is released.
        var kept: [UInt8] = []
        kept.reserveCapacity(bytes.count)
        kept += bytes
        bytes = kept
    }

    /// The unpacked hierarchies, equal to those that were packed.
    var hierarchies: [Hierarchy] {
        var reader = Reader(bytes: bytes)
        var hierarchies: [Hierarchy] = []
        while let hierarchy = reader.nextHierarchy() { hierarchies.append(hierarchy) }
        return hierarchies
    }
}

// MARK: - Packing

extension PackedHierarchies {
    private mutating func write(_ controller: Controller) {
        var flags = UInt8(ControllerKind.allCases.firstIndex(of: controller.kind) ?? 0)
        if controller.presentationStyle != .fullScreen { flags |= Flag.hasStyle }
        if controller.definesPresentationContext { flags |= Flag.definesContext }
        if controller.introTransitionType != nil { flags |= Flag.hasIntroduction }
        if controller.presented != nil { flags |= Flag.presents }
        if case .split(let columns) = controller.content, columns.isCollapsed { flags |= Flag.isCollapsed }
        bytes.append(flags)
        write(controller.id.description)
        if flags & Flag.hasStyle != 0 {
            bytes.append(UInt8(PresentationStyle.allCases.firstIndex(of: controller.presentationStyle) ?? 0))
        }
        if let type = controller.introTransitionType { write(type.description) }
        switch controller.content {
        case .view:
            break
        case .navigation(let stack):
            write(stack.count)
        case .tabs(let tabs, let selected):
            write(tabs.count)
            write(selected)
        case .split(let columns):
            write(
                (columns.supplementary == nil ? 0 : ColumnFlag.hasSupplementary)
                    + (columns.secondary == nil ? 0 : ColumnFlag.hasSecondary)
                    + (columns.style == .tripleColumn ? ColumnFlag.isTriple : 0)
                    + (columns.pushed.supplementary == nil ? 0 : ColumnFlag.hasPushedSupplementary)
                    + (columns.pushed.secondary == nil ? 0 : ColumnFlag.hasPushedSecondary))
            for id in columns.pushed.all { write(id.description) }
        }
    }

    /// A name; every kind of name has at most 255 bytes.
    private mutating func write(_ name: String) {
        bytes.append(UInt8(name.utf8.count))
        bytes.append(contentsOf: name.utf8)
    }

    /// Seven bits in each byte, the lowest first; the highest bit says that more bytes follow.
    private mutating func write(_ number: Int) {
        var rest = number
        while rest > 0x7f {
            bytes.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

// MARK: - Unpacking

extension PackedHierarchies {
    /// Reads packed bytes; it throws no errors, because it only reads what this type wrote.
    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        private struct Node {
            let flags: UInt8
            let id: ControllerID
            let style: PresentationStyle
            let introduction: TransitionTypeName?
            let childCount: Int
            let selected: Int
            let columns: Int
            let pushed: PushedColumns
            /// The controllers below it that have been read; the presented one is the last.
            var below: [ControllerID] = []

            var belowCount: Int { childCount + (flags & Flag.presents != 0 ? 1 : 0) }

            /// The controller, valid when everything below it has been read.
            var controller: Controller {
                let children = Array(below.prefix(childCount))
                let content: Controller.Content =
                    switch ControllerKind.allCases[Int(flags & Flag.kind)] {
                    case .view: .view
                    case .navigation: .navigation(children)
                    case .tabs: .tabs(children, selected: selected)
                    case .split:
                        .split(
                            Controller.Columns(
                                primary: children[0],
                                secondary: columns & ColumnFlag.hasSecondary == 0 ? nil : children[childCount - 1],
                                supplementary: columns & ColumnFlag.hasSupplementary == 0 ? nil : children[1],
                                isCollapsed: flags & Flag.isCollapsed != 0,
                                style: columns & ColumnFlag.isTriple == 0 ? .doubleColumn : .tripleColumn,
                                pushed: pushed))
                    }
                return Controller(
                    id: id, content: content, presented: below.count > childCount ? below[childCount] : nil,
                    presentationStyle: style, definesPresentationContext: flags & Flag.definesContext != 0,
                    introTransitionType: introduction)
            }
        }

        mutating func nextHierarchy() -> Hierarchy? {
            guard position < bytes.count else { return nil }
            var controllers: [Controller] = []
            // The nodes above the next one; each still lacks some of those below it.
            var above: [Node] = []
            repeat {
                var node = readNode()
                while true {
                    guard node.below.count == node.belowCount else {
                        above.append(node)
                        break
                    }
                    controllers.append(node.controller)
                    guard var parent = above.popLast() else { break }
                    parent.below.append(node.id)
                    node = parent
                }
            } while !above.isEmpty
            guard let root = controllers.last?.id,
                let hierarchy = try? Hierarchy(root: root, controllers: controllers)
            else { preconditionFailure("packed controllers form no hierarchy") }
            return hierarchy
        }

        private mutating func readNode() -> Node {
            let flags = readByte()
            let kind = ControllerKind.allCases[Int(flags & Flag.kind)]
            guard let id = ControllerID(readName()) else { preconditionFailure("a packed controller has no id") }
            let style = flags & Flag.hasStyle == 0 ? .fullScreen : PresentationStyle.allCases[Int(readByte())]
            let introduction = flags & Flag.hasIntroduction == 0 ? nil : TransitionTypeName(readName())
            var (childCount, selected, columns) = (0, 0, 0)
            var pushed = PushedColumns()
            switch kind {
            case .view: break
            case .navigation: childCount = readNumber()
            case .tabs: (childCount, selected) = (readNumber(), readNumber())
            case .split:
                columns = readNumber()
                childCount = 1 + (columns & ColumnFlag.children).nonzeroBitCount
                if columns & ColumnFlag.hasPushedSupplementary != 0 { pushed.supplementary = ControllerID(readName()) }
                if columns & ColumnFlag.hasPushedSecondary != 0 { pushed.secondary = ControllerID(readName()) }
            }
            return Node(
                flags: flags, id: id, style: style, introduction: introduction, childCount: childCount,
                selected: selected, columns: columns, pushed: pushed)
        }

        private mutating func readByte() -> UInt8 {
            defer { position += 1 }
            return bytes[position]
        }

        private mutating func readName() -> String {
            let count = Int(readByte())
            defer { position += count }
            return String(decoding: bytes[position..<(position + count)], as: UTF8.self)
        }

        private mutating func readNumber() -> Int {
            var (number, shift) = (0, 0)
            while true {
                let byte = readByte()
                number |= Int(byte & 0x7f) << shift
                if byte & 0x80 == 0 { return number }
                shift += 7
            }
        }
    }
}
