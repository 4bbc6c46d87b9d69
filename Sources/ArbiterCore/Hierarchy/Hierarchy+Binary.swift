extension Controller: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(id)
        writer.write(content)
        writer.write(presented)
        writer.writeWord(presentationStyle)
        writer.write(definesPresentationContext)
        writer.write(introTransitionType)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(
            id: try reader.read(), content: try reader.read(), presented: try reader.readOptional(),
            presentationStyle: try reader.readWord(), definesPresentationContext: try reader.readBool(),
            introTransitionType: try reader.readOptional())
    }
}

extension Controller.Content: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        switch self {
        case .view:
            writer.write(UInt8(0))
        case .navigation(let stack):
            writer.write(UInt8(1))
            writer.write(stack)
        case .tabs(let children, let selected):
            writer.write(UInt8(2))
            writer.write(children)
            writer.write(UInt32(selected))
        case .split(let columns):
            let isOfFirstRules = columns.neededRules == .first
            writer.write(UInt8(isOfFirstRules ? 3 : 4))
            writer.write(columns.primary)
            writer.write(columns.secondary)
            writer.write(columns.supplementary)
            writer.write(columns.isCollapsed)
            guard !isOfFirstRules else { return }
            writer.writeWord(columns.style)
            writer.write(columns.pushed.supplementary)
            writer.write(columns.pushed.secondary)
        }
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        switch try reader.read(UInt8.self) {
        case 0: self = .view
        case 1: self = .navigation(try reader.readArray())
        case 2: self = .tabs(try reader.readArray(), selected: Int(try reader.read(UInt32.self)))
        case 3:
            self = .split(
                Controller.Columns(
                    primary: try reader.read(), secondary: try reader.readOptional(),
                    supplementary: try reader.readOptional(), isCollapsed: try reader.readBool()))
        case 4:
            self = .split(
                Controller.Columns(
                    primary: try reader.read(), secondary: try reader.readOptional(),
                    supplementary: try reader.readOptional(), isCollapsed: try reader.readBool(),
                    style: try reader.readWord(),
                    pushed: PushedColumns(
                        supplementary: try reader.readOptional(), secondary: try reader.readOptional())))
        default: throw reader.malformed("the content of a controller")
        }
    }
}

/// The controllers are sorted by their ids, so that equal hierarchies have equal bytes.
extension Hierarchy: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(root)
        writer.write(controllers.values.sorted { $0.id.description < $1.id.description })
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        let root: ControllerID? = try reader.readOptional()
        let controllers: [Controller] = try reader.readArray()
        guard let root else {
            guard controllers.isEmpty else { throw reader.malformed("a hierarchy without a root") }
            self.init()
            return
        }
        do throws(HierarchyFault) {
            try self.init(root: root, controllers: controllers)
        } catch {
            throw reader.malformed("a hierarchy: \(error)")
        }
    }
}

extension Expectation: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        switch self {
        case .controller(let controller, let condition, let isNegated):
            writer.write(UInt8(isNegated ? 2 : 0))
            writer.write(controller)
            writer.writeWord(condition)
        case .revision(let revision):
            writer.write(UInt8(1))
            writer.write(revision)
        }
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        switch try reader.read(UInt8.self) {
        case 0: self = .controller(try reader.read(), is: try reader.readWord())
        case 1: self = .revision(try reader.read())
        case 2: self = .controller(try reader.read(), is: try reader.readWord(), isNegated: true)
        default: throw reader.malformed("an expectation")
        }
    }
}

extension AppearanceEvent: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(controller)
        writer.writeWord(change)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(try reader.read(), try reader.readWord())
    }
}
