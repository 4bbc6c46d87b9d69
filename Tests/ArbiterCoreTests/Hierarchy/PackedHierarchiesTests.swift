import ArbiterTestKit
import Testing

@testable import ArbiterCore

/// A ticket keeps its operation in few bytes.
struct PackedHierarchiesTests {
    private static func view(_ name: String) throws -> Hierarchy {
        let id: ControllerID = try #require(ControllerID(name))
        return try Hierarchy(root: id, controllers: [Controller(id: id)])
    }

    @Test(arguments: Seeds.first(40, atNight: 400))
    func `hierarchies that were packed are unpacked unchanged`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let hierarchies = try (0..<4).map { try random.hierarchy(named: "h\($0)") }
        #expect(PackedHierarchies(hierarchies).hierarchies == hierarchies, "seed \(seed)")
    }

    @Test func `nothing packed is nothing`() {
        #expect(PackedHierarchies([]).hierarchies.isEmpty)
        #expect(PackedHierarchies([]).bytes.isEmpty)
    }

    @Test func `a deep tree needs no stack`() throws {
        let ids = try (0..<Limits.hierarchyDepth).map { try #require(ControllerID("c\($0)")) }
        let controllers = ids.enumerated().map { index, id in
            Controller(id: id, presented: index + 1 < ids.count ? ids[index + 1] : nil)
        }
        let deep = try Hierarchy(root: ids[0], controllers: controllers)
        #expect(PackedHierarchies([deep]).hierarchies == [deep])
    }

    @Test func `a ticket keeps its operation in three times what was sent at most`() throws {
        let names = (0..<8_000).map { "x" + String($0, radix: 36) }
        let sent = names.reduce(0) { $0 + $1.utf8.count + 3 }
        let operation = Operation.setStack(
            navigation: try #require(ControllerID("nav")), controllers: try names.map(Self.view))
        let kept = KeptOperation(operation).packed
        #expect(kept.byteCount <= 3 * sent)
        #expect(kept.operation == operation)
        #expect(kept.arrivalCounts.controllers == names.count)
        #expect(kept == KeptOperation(operation))
        #expect(kept.hashValue == KeptOperation(operation).hashValue)
    }

    @Test func `operations that differ are not equal, packed or not`() throws {
        let nav: ControllerID = try #require(ControllerID("nav"))
        let operations = try [0..<10, 0..<11, 1..<11].map { range in
            Operation.setStack(navigation: nav, controllers: try range.map { try Self.view("v\($0)") })
        }
        for (index, left) in operations.enumerated() {
            for (other, right) in operations.enumerated() {
                #expect((KeptOperation(left).packed == KeptOperation(right).packed) == (index == other))
                #expect((KeptOperation(left) == KeptOperation(right).packed) == (index == other))
            }
        }
    }
}

extension SplitMix64 {
    /// A small tree with everything that a controller can have.
    fileprivate mutating func hierarchy(named prefix: String) throws -> Hierarchy {
        var controllers: [Controller] = []
        let root = try controller(prefix, depth: 3, mayContain: true, into: &controllers)
        return try Hierarchy(root: root, controllers: controllers)
    }

    private mutating func controller(
        _ name: String, depth: Int, mayContain: Bool, into controllers: inout [Controller]
    ) throws -> ControllerID {
        let id: ControllerID = try #require(ControllerID(name))
        var content = Controller.Content.view
        if mayContain, depth > 0 {
            switch Int.random(in: 0..<5, using: &self) {
            case 0:
                content = .navigation(
                    try (0..<Int.random(in: 0..<3, using: &self)).map { index in
                        try controller("\(name).n\(index)", depth: 0, mayContain: false, into: &controllers)
                    })
            case 1:
                let count = Int.random(in: 0..<3, using: &self)
                let tabs = try (0..<count).map { index in
                    try controller("\(name).t\(index)", depth: depth - 1, mayContain: true, into: &controllers)
                }
                content = .tabs(tabs, selected: count == 0 ? 0 : Int.random(in: 0..<count, using: &self))
            case 2:
                let columns = try ["p", "s", "x"].map { column in
                    try controller("\(name).\(column)", depth: depth - 1, mayContain: true, into: &controllers)
                }
                let hasThree = Bool.random(using: &self)
                if !hasThree { controllers.removeAll { $0.id.description.hasPrefix("\(name).x") } }
                content = .split(
                    Controller.Columns(
                        primary: columns[0], secondary: columns[1], supplementary: hasThree ? columns[2] : nil,
                        isCollapsed: Bool.random(using: &self)))
            default:
                break
            }
        }
        let presented =
            Bool.random(using: &self) && depth > 0
            ? try controller("\(name).m", depth: depth - 1, mayContain: true, into: &controllers) : nil
        controllers.append(
            Controller(
                id: id, content: content, presented: presented,
                presentationStyle: PresentationStyle.allCases.randomElement(using: &self) ?? .fullScreen,
                definesPresentationContext: Bool.random(using: &self),
                introTransitionType: Bool.random(using: &self) ? TransitionTypeName("tüpe \(name)") : nil))
        return id
    }
}
