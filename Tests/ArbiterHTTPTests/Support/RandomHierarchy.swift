import ArbiterCore
import ArbiterTestKit

extension Hierarchy {
    /// A sound hierarchy of so many controllers or one more, the same for the same random numbers.
    static func random(count: Int, prefix: String = "", using random: inout SplitMix64) throws -> Hierarchy {
        var plan = HierarchyPlan(prefix: prefix)
        plan.grow(to: count, using: &random)
        return try plan.hierarchy(using: &random)
    }
}

private struct HierarchyPlan {
    private struct Node {
        let kind: ControllerKind
        var children: [Int] = []
        var presented: Int?
    }

    private let prefix: String
    private var nodes: [Node] = []

    init(prefix: String) {
        self.prefix = prefix
    }

    mutating func grow(to count: Int, using random: inout SplitMix64) {
        _ = add(ControllerKind.allCases, using: &random)
        while nodes.count < count {
            let index = Int.random(in: nodes.indices, using: &random)
            switch nodes[index].kind {
            case .navigation where Bool.random(using: &random):
                nodes[index].children.append(add([.view], using: &random))
            case .tabs where Bool.random(using: &random):
                nodes[index].children.append(add(ControllerKind.allCases, using: &random))
            case .view, .navigation, .tabs, .split:
                guard nodes[index].presented == nil else { continue }
                nodes[index].presented = add(ControllerKind.allCases, using: &random)
            }
        }
    }

    private mutating func add(_ kinds: [ControllerKind], using random: inout SplitMix64) -> Int {
        let index = nodes.count
        nodes.append(Node(kind: kinds.randomElement(using: &random) ?? .view))
        guard nodes[index].kind == .split else { return index }
        for _ in 0..<Int.random(in: 2...3, using: &random) {
            nodes[index].children.append(nodes.count)
            nodes.append(Node(kind: .view))
        }
        return index
    }

    func hierarchy(using random: inout SplitMix64) throws -> Hierarchy {
        var controllers: [Controller] = []
        for (index, node) in nodes.enumerated() {
            controllers.append(
                Controller(
                    id: try id(index), content: try content(of: node, using: &random),
                    presented: try node.presented.map(id),
                    presentationStyle: PresentationStyle.allCases.randomElement(using: &random) ?? .popover,
                    definesPresentationContext: Bool.random(using: &random),
                    introTransitionType: random.isOnce(in: 3) ? TransitionTypeName("star \"\(index % 3)\"") : nil))
        }
        controllers.shuffle(using: &random)
        return try Hierarchy(root: try id(0), controllers: controllers)
    }

    private func content(of node: Node, using random: inout SplitMix64) throws -> Controller.Content {
        let children = try node.children.map(id)
        switch node.kind {
        case .view: return .view
        case .navigation: return .navigation(children)
        case .tabs:
            return .tabs(children, selected: Int.random(in: 0..<max(children.count, 1), using: &random))
        case .split:
            return .split(
                Controller.Columns(
                    primary: children[0], secondary: children[1],
                    supplementary: children.count > 2 ? children[2] : nil, isCollapsed: Bool.random(using: &random)))
        }
    }

    private func id(_ index: Int) throws -> ControllerID {
        struct NoID: Error {}
        guard let id = ControllerID("\(prefix)c\(index)") else { throw NoID() }
        return id
    }
}
