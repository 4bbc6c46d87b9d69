import ArbiterTestKit
import Testing

@testable import ArbiterCore
@testable import ArbiterHTTP

/// See also `OperationExampleTests`, which has every operation.
struct OperationJSONTests {
    private func operation(_ json: String) throws(Problem) -> ArbiterCore.Operation {
        try read(json, as: "operation") { field, reader throws(Problem) in try reader.operation(field) }
    }

    private static let sound: [(String, ArbiterCore.Operation)] = {
        let a = ControllerID(sound: "a")
        let n = ControllerID(sound: "n")
        guard let b = try? Hierarchy(view: "b"), let c = try? Hierarchy(view: "c"), let go = SegueIdentifier("go")
        else {
            return []
        }
        return [
            (#"{"type":"present","presenter":"a","controller":"b"}"#, .present(presenter: a, controller: b)),
            (#"{"type":"dismiss","controller":"a"}"#, .dismiss(a)),
            (#"{"type":"push","navigation":"n","controller":{"id":"b"}}"#, .push(navigation: n, controller: b)),
            (#"{"type":"pop","navigation":"n"}"#, .pop(navigation: n)),
            (#"{"type":"popTo","navigation":"n","controller":"a"}"#, .popTo(navigation: n, controller: a)),
            (#"{"type":"popToRoot","navigation":"n"}"#, .popToRoot(navigation: n)),
            (
                #"{"type":"setStack","navigation":"n","controllers":["b",{"id":"c"}]}"#,
                .setStack(navigation: n, controllers: [b, c])
            ),
            (#"{"type":"select","tabs":"a","index":3}"#, .select(tabs: a, .index(3))),
            (#"{"type":"select","tabs":"a","index":-1}"#, .select(tabs: a, .index(-1))),
            (#"{"type":"select","tabs":"a","index":-9223372036854775808}"#, .select(tabs: a, .index(.min))),
            (#"{"type":"select","tabs":"a","controller":"n"}"#, .select(tabs: a, .controller(n))),
            (#"{"type":"showDetail","split":"a","controller":"b"}"#, .showDetail(split: a, controller: b)),
            (#"{"type":"select","tabs":"a","index":-1}"#, .select(tabs: a, .index(-1))),
            (#"{"type":"select","tabs":"a","offset":-1}"#, .select(tabs: a, .offset(-1))),
            (
                #"{"type":"setColumn","split":"a","column":"supplementary","controller":"b"}"#,
                .setColumn(split: a, .supplementary, controller: b)
            ),
            (
                #"{"type":"setColumn","split":"a","column":"secondary","controller":null}"#,
                .setColumn(split: a, .secondary, controller: nil)
            ),
            (#"{"type":"showColumn","split":"a","column":"primary"}"#, .showColumn(split: a, .primary)),
            (
                #"{"type":"collapse","split":"a","topColumn":"primary"}"#,
                .collapse(split: a, topColumn: .primary)
            ),
            (#"{"type":"collapse","split":"a"}"#, .collapse(split: a)),
            (#"{"type":"expand","split":"a"}"#, .expand(split: a)),
            (#"{"type":"setTabs","tabs":"a","controllers":[]}"#, .setTabs(tabs: a, controllers: [], selected: nil)),
            (
                #"{"type":"setTabs","tabs":"a","controllers":["b","c"],"selected":1}"#,
                .setTabs(tabs: a, controllers: [b, c], selected: 1)
            ),
            (#"{"type":"insertTab","tabs":"a","controller":"b"}"#, .insertTab(tabs: a, controller: b)),
            (
                #"{"type":"insertTab","tabs":"a","controller":"b","index":1}"#,
                .insertTab(tabs: a, controller: b, index: 1)
            ),
            (#"{"type":"removeTab","tabs":"a","controller":"n"}"#, .removeTab(tabs: a, controller: n)),
            (#"{"type":"setRoot","controller":"b"}"#, .setRoot(b)),
            (#"{"type":"segue","source":"a","identifier":"go"}"#, .segue(source: a, go)),
            (
                #"{"type":"segue","source":"a","identifier":"go","destination":"b"}"#,
                .segue(source: a, go, destination: b)
            ),
        ]
    }()

    @Test func `an operation is read as what it says, and comes back as it was written`() throws {
        for (json, expected) in Self.sound {
            #expect(try operation(json) == expected)
            let text = written { writer, name in writer.object(name) { $0.members(of: expected) } }
            #expect(try operation(text) == expected)
            // The type may also come last.
            let type = #""type":"\#(expected.type?.rawValue ?? "")""#
            let turned = "{" + json.dropFirst(type.utf8.count + 2).dropLast() + "," + type + "}"
            #expect(try operation(turned) == expected)
        }
    }

    @Test func `a summary of an operation names who comes in by an id and a count`() throws {
        let tree = try Hierarchy(
            root: ControllerID(sound: "b"),
            controllers: [
                Controller(id: ControllerID(sound: "b"), presented: ControllerID(sound: "x")),
                Controller(id: ControllerID(sound: "x")),
            ])
        let a = ControllerID(sound: "a")
        var operations = Self.sound.map(\.1)
        operations.append(.push(navigation: a, controller: tree))
        let summaries = operations.map { operation in
            written { writer, name in
                writer.object(name) { $0.members(of: operation, bringing: ArrivalCounts(operation)) }
            }
        }
        #expect(
            summaries == [
                #"{"type":"present","presenter":"a","controller":"b","controllerCount":1}"#,
                #"{"type":"dismiss","controller":"a"}"#,
                #"{"type":"push","navigation":"n","controller":"b","controllerCount":1}"#,
                #"{"type":"pop","navigation":"n"}"#,
                #"{"type":"popTo","navigation":"n","controller":"a"}"#,
                #"{"type":"popToRoot","navigation":"n"}"#,
                #"{"type":"setStack","navigation":"n","controllerCount":2}"#,
                #"{"type":"select","tabs":"a","index":3}"#,
                #"{"type":"select","tabs":"a","index":-1}"#,
                #"{"type":"select","tabs":"a","index":-9223372036854775808}"#,
                #"{"type":"select","tabs":"a","controller":"n"}"#,
                #"{"type":"showDetail","split":"a","controller":"b","controllerCount":1}"#,
                #"{"type":"select","tabs":"a","index":-1}"#,
                #"{"type":"select","tabs":"a","offset":-1}"#,
                #"{"type":"setColumn","split":"a","column":"supplementary","controller":"b","controllerCount":1}"#,
                #"{"type":"setColumn","split":"a","column":"secondary"}"#,
                #"{"type":"showColumn","split":"a","column":"primary"}"#,
                #"{"type":"collapse","split":"a","topColumn":"primary"}"#,
                #"{"type":"collapse","split":"a"}"#,
                #"{"type":"expand","split":"a"}"#,
                #"{"type":"setTabs","tabs":"a","controllerCount":0}"#,
                #"{"type":"setTabs","tabs":"a","controllerCount":2,"selected":1}"#,
                #"{"type":"insertTab","tabs":"a","controller":"b","controllerCount":1}"#,
                #"{"type":"insertTab","tabs":"a","controller":"b","controllerCount":1,"index":1}"#,
                #"{"type":"removeTab","tabs":"a","controller":"n"}"#,
                #"{"type":"setRoot","controller":"b","controllerCount":1}"#,
                #"{"type":"segue","source":"a","identifier":"go"}"#,
                #"{"type":"segue","source":"a","identifier":"go","destination":"b","controllerCount":1}"#,
                #"{"type":"push","navigation":"a","controller":"b","controllerCount":2}"#,
            ])
    }

    @Test(arguments: [
        RefusedValue("{}", .missingField, "operation.type"), RefusedValue(#""pop""#, .invalidField, "operation"),
        RefusedValue(
            #"{"type":"setColumn","split":"a","column":"primary","controller":null}"#, .invalidField,
            "operation.controller"),
        RefusedValue(#"{"type":"setColumn","split":"a","column":"secondary"}"#, .missingField, "operation.controller"),
        RefusedValue(#"{"type":"setColumn","split":"a","controller":"b"}"#, .missingField, "operation.column"),
        RefusedValue(
            #"{"type":"setColumn","split":"a","column":"detail","controller":"b"}"#, .invalidField, "operation.column"),
        RefusedValue(
            #"{"controller":null,"type":"push","navigation":"a"}"#, .invalidField, "operation.controller"),
        RefusedValue(#"{"type":"expand","split":"a","topColumn":"primary"}"#, .unknownField, "operation.topColumn"),
        RefusedValue("null", .invalidField, "operation"), RefusedValue("[]", .invalidField, "operation"),
        RefusedValue(#"{"type":"swap"}"#, .invalidField, "operation.type"),
        RefusedValue(#"{"type":null}"#, .invalidField, "operation.type"),
        RefusedValue(#"{"type":"pop","nav":"n"}"#, .unknownField, "operation.nav"),
        RefusedValue(#"{"navigation":"n"}"#, .missingField, "operation.type"),
        RefusedValue(#"{"type":"pop","index":1}"#, .unknownField, "operation.index"),
        RefusedValue(#"{"type":"pop","navigation":{"id":"n"}}"#, .invalidField, "operation.navigation"),
        RefusedValue(#"{"type":"pop","navigation":"n","navigation":"n"}"#, .invalidField, "operation.navigation"),
        RefusedValue(#"{"type":"push","navigation":"n"}"#, .missingField, "operation.controller"),
        RefusedValue(#"{"type":"push","navigation":"n","controller":{}}"#, .missingField, "operation.controller.id"),
        RefusedValue(
            #"{"type":"push","navigation":"n","controller":{"id":"!"}}"#, .invalidField, "operation.controller.id"),
        RefusedValue(#"{"type":"dismiss","controller":{"id":"a"}}"#, .invalidField, "operation.controller"),
        RefusedValue(#"{"controller":{"id":"a"},"type":"dismiss"}"#, .invalidField, "operation.controller"),
        RefusedValue(
            #"{"type":"popTo","navigation":"n","controller":{"id":"a"}}"#, .invalidField, "operation.controller"),
        RefusedValue(#"{"type":"select","tabs":"a"}"#, .missingField, "operation.index"),
        RefusedValue(#"{"type":"select","tabs":"a","controller":{"id":"b"}}"#, .invalidField, "operation.controller"),
        RefusedValue(
            #"{"type":"select","tabs":"a","index":1,"controller":"b"}"#, .invalidField, "operation.controller"),
        RefusedValue(#"{"type":"select","tabs":"a","index":1.5}"#, .invalidField, "operation.index"),
        RefusedValue(#"{"type":"select","tabs":"a","index":-1e19}"#, .invalidField, "operation.index"),
        RefusedValue(#"{"type":"select","tabs":"a","index":"1"}"#, .invalidField, "operation.index"),
        RefusedValue(#"{"type":"setStack","navigation":"n","controllers":[]}"#, .invalidField, "operation.controllers"),
        RefusedValue(
            #"{"type":"setStack","navigation":"n","controllers":"b"}"#, .invalidField, "operation.controllers"),
        RefusedValue(
            #"{"type":"setStack","navigation":"n","controllers":["b",[]]}"#, .invalidField, "operation.controllers[1]"),
        RefusedValue(
            #"{"type":"setStack","navigation":"n","controllers":["b",{"id":"c","kind":"tabs","children":[1]}]}"#,
            .invalidField, "operation.controllers[1].children[0]"),
        RefusedValue(#"{"type":"segue","source":"a","identifier":""}"#, .invalidField, "operation.identifier"),
        RefusedValue(#"{"type":"pop","navigation":"n""#, .malformedJSON, nil),
    ])
    func `an operation that is none is refused by the name of what is wrong`(refused: RefusedValue) {
        refused.holds(as: "operation") { field, reader throws(Problem) in try reader.operation(field) }
    }

    @Test func `the controllers of a stack are counted together`() {
        let half = (0..<Limits.controllers / 2).map { #""c\#($0)""# }.joined(separator: ",")
        let controllers =
            #"{"id":"t","kind":"tabs","children":[\#(half)]},{"id":"u","kind":"tabs","children":[\#(half)]}"#
        RefusedValue(
            #"{"type":"setStack","navigation":"n","controllers":[\#(controllers)]}"#, .invalidField,
            "operation.controllers[1]"
        ).holds(as: "operation") { field, reader throws(Problem) in try reader.operation(field) }
    }
}
