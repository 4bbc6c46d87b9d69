@testable import ArbiterCore

/// A naive hierarchy: nested nodes, searched from end to end and rebuilt by every change.
struct NaiveNode {
    let controller: Controller
    var content: Content
    var presented: [NaiveNode]

    enum Content {
        case view
        case navigation([NaiveNode])
        case tabs([NaiveNode], selected: Int)
        case split([NaiveNode], isCollapsed: Bool)
    }

    init?(_ id: ControllerID, of hierarchy: Hierarchy) {
        guard let controller = hierarchy[id] else { return nil }
        self.controller = controller
        let children = controller.children.compactMap { NaiveNode($0, of: hierarchy) }
        content =
            switch controller.content {
            case .view: .view
            case .navigation: .navigation(children)
            case .tabs(_, let selected): .tabs(children, selected: selected)
            case .split(let columns): .split(children, isCollapsed: columns.isCollapsed)
            }
        presented = controller.presented.flatMap { NaiveNode($0, of: hierarchy) }.map { [$0] } ?? []
    }

    init?(_ hierarchy: Hierarchy) {
        guard let root = hierarchy.root else { return nil }
        self.init(root, of: hierarchy)
    }

    var id: ControllerID { controller.id }

    var children: [NaiveNode] {
        switch content {
        case .view: []
        case .navigation(let children), .tabs(let children, _), .split(let children, _): children
        }
    }

    var shown: [NaiveNode] {
        switch content {
        case .view: []
        case .navigation(let stack): stack.suffix(1)
        case .tabs(let tabs, let selected): tabs.isEmpty ? [] : [tabs[selected]]
        case .split(let columns, let isCollapsed): isCollapsed ? Array(columns.prefix(1)) : columns
        }
    }

    var all: [ControllerID] {
        [id] + (children + presented).flatMap(\.all)
    }

    /// The visible controllers, if this one is placed.
    var visible: [ControllerID] {
        let isCovered = presented.contains { $0.controller.presentationStyle.coversPresenter }
        return (isCovered ? [] : [id] + shown.flatMap(\.visible)) + presented.flatMap(\.visible)
    }

    /// The nodes from this one down to another, both included; empty if it does not exist.
    func path(to target: ControllerID) -> [NaiveNode] {
        if target == id { return [self] }
        for below in children + presented {
            let path = below.path(to: target)
            if !path.isEmpty { return [self] + path }
        }
        return []
    }

    func node(_ target: ControllerID) -> NaiveNode? {
        path(to: target).last
    }

    /// A controller and its containers, from the topmost of its layer down.
    func layer(of target: ControllerID) -> [NaiveNode] {
        var layer: [NaiveNode] = []
        for node in path(to: target) {
            let isPresented = layer.last?.presented.contains { $0.id == node.id } ?? false
            layer = isPresented ? [node] : layer + [node]
        }
        return layer
    }

    func presenter(of target: ControllerID) -> NaiveNode? {
        path(to: target).last { node in node.presented.contains { $0.id == target } }
    }

    /// The same hierarchy with one node changed.
    func changing(_ target: ControllerID, _ change: (inout NaiveNode) -> Void) -> NaiveNode {
        var changed = self
        let children = children.map { $0.changing(target, change) }
        switch content {
        case .view: break
        case .navigation: changed.content = .navigation(children)
        case .tabs(_, let selected): changed.content = .tabs(children, selected: selected)
        case .split(_, let isCollapsed): changed.content = .split(children, isCollapsed: isCollapsed)
        }
        changed.presented = presented.map { $0.changing(target, change) }
        if id == target { change(&changed) }
        return changed
    }

    func hierarchy() throws -> Hierarchy {
        try Hierarchy(root: id, controllers: controllers)
    }

    private var controllers: [Controller] {
        let names = children.map(\.id)
        let content: Controller.Content =
            switch content {
            case .view: .view
            case .navigation: .navigation(names)
            case .tabs(_, let selected): .tabs(names, selected: selected)
            case .split(_, let isCollapsed):
                .split(
                    Controller.Columns(
                        primary: names[0], secondary: names[names.count - 1],
                        supplementary: names.count == 3 ? names[1] : nil, isCollapsed: isCollapsed))
            }
        let own = Controller(
            id: id, content: content, presented: presented.first?.id,
            presentationStyle: controller.presentationStyle,
            definesPresentationContext: controller.definesPresentationContext,
            introTransitionType: controller.introTransitionType)
        return [own] + (children + presented).flatMap(\.controllers)
    }
}
