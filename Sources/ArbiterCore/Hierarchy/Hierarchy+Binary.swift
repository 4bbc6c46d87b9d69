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
            writer.write(UInt8(3))
            writer.write(columns.primary)
            writer.write(columns.secondary)
            writer.write(columns.supplementary)
            writer.write(columns.isCollapsed)
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
                    primary: try reader.read(), secondary: try reader.read(), supplementary: try reader.readOptional(),
                    isCollapsed: try reader.readBool()))
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

extension Operation: BinaryCodable {
    private enum Code {
        static let present: UInt8 = 0
        static let dismiss: UInt8 = 1
        static let push: UInt8 = 2
        static let pop: UInt8 = 3
        static let popTo: UInt8 = 4
        static let popToRoot: UInt8 = 5
        static let setStack: UInt8 = 6
        static let select: UInt8 = 7
        static let showDetail: UInt8 = 8
        static let segue: UInt8 = 9
    }

    package func encode(to writer: inout BinaryWriter) {
        switch self {
        case .present(let presenter, let controller):
            writer.write(Code.present)
            writer.write(presenter)
            writer.write(controller)
        case .dismiss(let controller):
            writer.write(Code.dismiss)
            writer.write(controller)
        case .push(let navigation, let controller):
            writer.write(Code.push)
            writer.write(navigation)
            writer.write(controller)
        case .pop(let navigation):
            writer.write(Code.pop)
            writer.write(navigation)
        case .popTo(let navigation, let controller):
            writer.write(Code.popTo)
            writer.write(navigation)
            writer.write(controller)
        case .popToRoot(let navigation):
            writer.write(Code.popToRoot)
            writer.write(navigation)
        case .setStack(let navigation, let controllers):
            writer.write(Code.setStack)
            writer.write(navigation)
            writer.write(controllers)
        case .select(let tabs, let tab):
            writer.write(Code.select)
            writer.write(tabs)
            writer.write(tab)
        case .showDetail(let split, let controller):
            writer.write(Code.showDetail)
            writer.write(split)
            writer.write(controller)
        case .segue(let source, let identifier):
            writer.write(Code.segue)
            writer.write(source)
            writer.write(identifier)
        }
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        switch try reader.read(UInt8.self) {
        case Code.present: self = .present(presenter: try reader.read(), controller: try reader.read())
        case Code.dismiss: self = .dismiss(try reader.read())
        case Code.push: self = .push(navigation: try reader.read(), controller: try reader.read())
        case Code.pop: self = .pop(navigation: try reader.read())
        case Code.popTo: self = .popTo(navigation: try reader.read(), controller: try reader.read())
        case Code.popToRoot: self = .popToRoot(navigation: try reader.read())
        case Code.setStack: self = .setStack(navigation: try reader.read(), controllers: try reader.readArray())
        case Code.select: self = .select(tabs: try reader.read(), try reader.read())
        case Code.showDetail: self = .showDetail(split: try reader.read(), controller: try reader.read())
        case Code.segue: self = .segue(source: try reader.read(), try reader.read())
        default: throw reader.malformed("an operation")
        }
    }
}

extension Operation.Tab: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        switch self {
        case .index(let index):
            writer.write(UInt8(0))
            writer.write(Int64(index))
        case .controller(let controller):
            writer.write(UInt8(1))
            writer.write(controller)
        }
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        switch try reader.read(UInt8.self) {
        case 0: self = .index(Int(try reader.readInt64()))
        case 1: self = .controller(try reader.read())
        default: throw reader.malformed("a tab")
        }
    }
}

extension Expectation: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        switch self {
        case .controller(let controller, let condition):
            writer.write(UInt8(0))
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
