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
        static let collapse: UInt8 = 10
        static let expand: UInt8 = 11
        static let setTabs: UInt8 = 12
        static let setRoot: UInt8 = 13
        static let list: UInt8 = 14
        static let presentInFront: UInt8 = 15
        static let collapseTo: UInt8 = 16
        static let setColumn: UInt8 = 17
        static let showColumn: UInt8 = 18
        static let insertTab: UInt8 = 19
        static let removeTab: UInt8 = 20
    }

    package func encode(to writer: inout BinaryWriter) {
        switch self {
        case .present(let presenter?, let controller):
            writer.write(Code.present)
            writer.write(presenter)
            writer.write(controller)
        case .present(nil, let controller):
            writer.write(Code.presentInFront)
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
        case .setColumn(let split, let column, let controller):
            writer.write(Code.setColumn)
            writer.write(split)
            writer.writeWord(column)
            writer.write(controller)
        case .showColumn(let split, let column):
            writer.write(Code.showColumn)
            writer.write(split)
            writer.writeWord(column)
        case .collapse(let split, nil):
            writer.write(Code.collapse)
            writer.write(split)
        case .collapse(let split, let column?):
            writer.write(Code.collapseTo)
            writer.write(split)
            writer.writeWord(column)
        case .expand(let split):
            writer.write(Code.expand)
            writer.write(split)
        case .setTabs(let tabs, let controllers, let selected):
            writer.write(Code.setTabs)
            writer.write(tabs)
            writer.write(controllers)
            writer.write(selected != nil)
            if let selected { writer.write(Int64(selected)) }
        case .insertTab(let tabs, let controller, let index):
            writer.write(Code.insertTab)
            writer.write(tabs)
            writer.write(controller)
            writer.write(index != nil)
            if let index { writer.write(Int64(index)) }
        case .removeTab(let tabs, let controller):
            writer.write(Code.removeTab)
            writer.write(tabs)
            writer.write(controller)
        case .setRoot(let controller):
            writer.write(Code.setRoot)
            writer.write(controller)
        case .segue(let source, let identifier, let destination):
            writer.write(Code.segue)
            writer.write(source)
            writer.write(identifier)
            writer.write(destination)
        case .list(let operations):
            writer.write(Code.list)
            writer.write(operations)
        }
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        let code: UInt8 = try reader.read()
        guard code == Code.list else {
            try self.init(oneOf: code, from: &reader)
            return
        }
        let count = Int(try reader.read(UInt32.self))
        guard Limits.listedOperations.contains(count) else { throw reader.malformed("a list of operations") }
        var operations: [Operation] = []
        for _ in 0..<count { operations.append(try Operation(oneOf: try reader.read(), from: &reader)) }
        self = .list(operations)
    }

    /// Reads an operation that is no list.
    private init(oneOf code: UInt8, from reader: inout BinaryReader) throws(BinaryDecodingError) {
        switch code {
        case Code.present: self = .present(presenter: try reader.read(ControllerID.self), controller: try reader.read())
        case Code.presentInFront: self = .present(presenter: nil, controller: try reader.read())
        case Code.dismiss: self = .dismiss(try reader.read())
        case Code.push: self = .push(navigation: try reader.read(), controller: try reader.read())
        case Code.pop: self = .pop(navigation: try reader.read())
        case Code.popTo: self = .popTo(navigation: try reader.read(), controller: try reader.read())
        case Code.popToRoot: self = .popToRoot(navigation: try reader.read())
        case Code.setStack: self = .setStack(navigation: try reader.read(), controllers: try reader.readArray())
        case Code.select: self = .select(tabs: try reader.read(), try reader.read())
        case Code.showDetail: self = .showDetail(split: try reader.read(), controller: try reader.read())
        case Code.segue:
            self = .segue(source: try reader.read(), try reader.read(), destination: try reader.readOptional())
        case Code.collapse: self = .collapse(split: try reader.read())
        case Code.collapseTo:
            self = .collapse(split: try reader.read(), topColumn: try reader.readWord(SplitColumn.self))
        case Code.setColumn:
            self = .setColumn(
                split: try reader.read(), try reader.readWord(), controller: try reader.readOptional())
        case Code.showColumn: self = .showColumn(split: try reader.read(), try reader.readWord())
        case Code.expand: self = .expand(split: try reader.read())
        case Code.setTabs:
            self = .setTabs(
                tabs: try reader.read(), controllers: try reader.readArray(),
                selected: try reader.readBool() ? Int(try reader.readInt64()) : nil)
        case Code.insertTab:
            self = .insertTab(
                tabs: try reader.read(), controller: try reader.read(),
                index: try reader.readBool() ? Int(try reader.readInt64()) : nil)
        case Code.removeTab: self = .removeTab(tabs: try reader.read(), controller: try reader.read())
        case Code.setRoot: self = .setRoot(try reader.read())
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
        case .offset(let offset):
            writer.write(UInt8(2))
            writer.write(Int64(offset))
        }
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        switch try reader.read(UInt8.self) {
        case 0: self = .index(Int(try reader.readInt64()))
        case 1: self = .controller(try reader.read())
        case 2: self = .offset(Int(try reader.readInt64()))
        default: throw reader.malformed("a tab")
        }
    }
}
