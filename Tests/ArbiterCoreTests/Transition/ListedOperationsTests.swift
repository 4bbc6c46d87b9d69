import Testing

@testable import ArbiterCore

/// Several operations in one transition: what they lock, and how they are kept.
struct ListedOperationsTests {
    private static func request(_ operations: ArbiterCore.Operation...) -> TransitionRequest {
        TransitionRequest(scope: .operation, operation: .list(operations))
    }

    private func paths(_ outline: String, segues: [Segue] = [], _ operations: ArbiterCore.Operation...) throws -> Set<
        String
    > {
        let storyboard = try Storyboard(hierarchy: .outlined(outline), segues: segues)
        let paths = storyboard.paths(of: .operation, .list(operations))
        return Set(paths.map { $0.map(\.description).joined(separator: "/") })
    }

    @Test func `a list locks what each operation touches`() throws {
        #expect(try paths("tabs{*n[a] m[b]}", .pop("n"), .push("x", on: "m")) == ["tabs/n", "tabs/m"])
        // What is presented from a pushed controller is presented by the topmost one of its layer.
        #expect(try paths("tabs{*n[a] m[b]}", .push("x", on: "n"), .present("y", from: "x")) == ["tabs"])
        #expect(try paths("tabs{*n![a] m[b]}", .push("x", on: "n"), .present("@>y", from: "x")) == ["tabs/n"])
        // What comes in is below what is locked for it.
        #expect(try paths("tabs{*n[a] m[b]}", .present("p[q]", from: "tabs"), .push("x", on: "p")) == ["tabs"])
    }

    @Test func `a list whose reach cannot be told locks the whole scene`() throws {
        #expect(try paths("tabs{*n[a] m[b]}", .pop("n"), .push("x", on: "elsewhere")) == [""])
        #expect(try paths("tabs{*n[a] m[b]}", .pop("n"), .segue("go", from: "a")) == [""])
        #expect(try paths("tabs{*n[a] m[b]}", .pop("n"), .setRoot("x")) == [""])
        #expect(try paths("tabs{*n[a] m[b]}", .pop("n"), .present("x", from: nil)) == [""])
        #expect(try paths("split(n[a]|d)", .pop("n"), .collapse("split")) == [""])
        #expect(try paths("tabs{*n[a] m[b]}", .setTabs(["m", "n"], of: "tabs"), .present("@>y", from: "m")) == [""])
        // Nothing can be below itself.
        #expect(try paths("tabs{*n[a] m[b]}", .pop("n"), .push("tabs", on: "n")) == [""])
        // Whether the stack keeps it, or it comes anew with what is below it, depends on the stack.
        #expect(try paths("n[a b]", .pop("n"), .setStack(["a", "b>c"], of: "n")) == [""])
    }

    @Test func `beside what a list locks, others run`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("tabs{*n[a b] m[c]}")
        let list = try arbiter.start(Self.request(.pop("n"), .push("x", on: "n")))
        let beside = try arbiter.start(TransitionRequest(scope: .operation, operation: .push("y", on: "m")))
        #expect(throws: ArbiterError.self) {
            try arbiter.start(TransitionRequest(scope: .operation, operation: .push("z", on: "n")))
        }
        try arbiter.end(list)
        try arbiter.end(beside)
    }

    @Test func `what comes in keeps the type of its own operation`() throws {
        var storyboard = try Storyboard(hierarchy: .outlined("tabs{*n[a] b}"))
        let star = try #require(TransitionTypeName("star"))
        let editor = try Hierarchy(root: id("x"), controllers: [Controller(id: id("x"), introTransitionType: star)])
        let plan = try storyboard.plan(.list([.push(navigation: id("n"), controller: editor), .select("b")]))
        #expect(plan?.type == nil, "that of the last")
        storyboard.hierarchy.apply(plan?.steps ?? [])
        #expect(storyboard.hierarchy[id("x")]?.introTransitionType == star)
    }

    @Test func `it is kept packed, each operation by itself`() throws {
        let many = (0..<20).map { "c\($0)" }
        let operation = ArbiterCore.Operation.list([.setStack(many, of: "n"), .pop("n"), .setTabs(many, of: "t")])
        let kept = KeptOperation(operation)
        let packed = kept.packed
        #expect(packed.operation == operation && packed == kept && packed.hashValue == kept.hashValue)
        #expect(packed.arrivalCounts == kept.arrivalCounts && packed.arrivalCounts.hierarchies == 40)
        #expect(packed.byteCount < kept.byteCount)
        #expect(packed.parts.map(\.arrivalCounts.hierarchies) == [20, 0, 20])
    }

    @Test func `a list in a list, and one of another length, is no list`() throws {
        let pop = ArbiterCore.Operation.pop("n")
        for operations in [[pop], [pop, .list([pop, pop])], Array(repeating: pop, count: 17)] {
            var writer = BinaryWriter()
            writer.write(ArbiterCore.Operation.list(operations))
            var reader = BinaryReader(writer.bytes)
            #expect(throws: BinaryDecodingError.self) { try reader.read(ArbiterCore.Operation.self) }
        }
    }
}
