@testable import ArbiterCore

/// The result of an operation on a naive hierarchy.
enum NaiveOutcome {
    case refused(OperationRefusal.Code)
    case nothing
    case done(NaiveNode)
}

extension NaiveNode {
    func outcome(of operation: Operation, segues: [Segue]) -> NaiveOutcome {
        switch operation {
        case .present(let source, let arrival): present(arrival, from: source)
        case .dismiss(let controller): dismiss(controller)
        case .push(let navigation, let arrival): push(arrival, on: navigation)
        case .pop(let navigation): pop(navigation) { max($0.count - 2, 0) }
        case .popTo(let navigation, let controller): pop(navigation) { $0.firstIndex { $0.id == controller } }
        case .popToRoot(let navigation): pop(navigation) { _ in 0 }
        case .setStack(let navigation, let arrivals): setStack(arrivals, of: navigation)
        case .select(let tabs, let tab): select(tab, of: tabs)
        case .showDetail(let split, let arrival): showDetail(arrival, in: split)
        case .segue(let source, let identifier):
            follow(segues.first { $0.source == source && $0.identifier == identifier }, from: source)
        }
    }

    private func isKnown(_ arrival: NaiveNode) -> Bool {
        !Set(all).isDisjoint(with: arrival.all)
    }

    private func present(_ arrival: Hierarchy, from source: ControllerID) -> NaiveOutcome {
        let layer = layer(of: source)
        guard let topmost = layer.first, let arrival = NaiveNode(arrival) else { return .refused(.unknownController) }
        let context = layer.last { $0.controller.definesPresentationContext }
        let presenter = arrival.controller.presentationStyle.seeksContext ? context ?? topmost : topmost
        if isKnown(arrival) { return .refused(.alreadyInHierarchy) }
        if !presenter.presented.isEmpty { return .refused(.alreadyPresenting) }
        if !visible.contains(source) { return .refused(.notVisible) }
        return .done(changing(presenter.id) { $0.presented = [arrival] })
    }

    private func dismiss(_ target: ControllerID) -> NaiveOutcome {
        let layer = layer(of: target)
        guard let topmost = layer.first else { return .refused(.unknownController) }
        guard let presenter = layer.last(where: { !$0.presented.isEmpty }) ?? presenter(of: topmost.id) else {
            return .nothing
        }
        return .done(changing(presenter.id) { $0.presented = [] })
    }

    private func push(_ arrival: Hierarchy, on navigation: ControllerID) -> NaiveOutcome {
        guard let node = node(navigation) else { return .refused(.unknownController) }
        guard case .navigation(let stack) = node.content else { return .refused(.wrongKind) }
        guard let arrival = NaiveNode(arrival) else { return .refused(.unknownController) }
        guard case .view = arrival.content else { return .refused(.cannotPushContainer) }
        if stack.contains(where: { $0.id == arrival.id }) { return .refused(.alreadyOnStack) }
        if isKnown(arrival) { return .refused(.alreadyInHierarchy) }
        return .done(changing(navigation) { $0.content = .navigation($0.children + [arrival]) })
    }

    private func pop(_ navigation: ControllerID, to index: ([NaiveNode]) -> Int?) -> NaiveOutcome {
        guard let node = node(navigation) else { return .refused(.unknownController) }
        guard case .navigation(let stack) = node.content else { return .refused(.wrongKind) }
        guard let index = index(stack) else { return .refused(.notOnStack) }
        guard index + 1 < stack.count else { return .nothing }
        return .done(changing(navigation) { $0.content = .navigation(Array($0.children[...index])) })
    }

    private func setStack(_ arrivals: [Hierarchy], of navigation: ControllerID) -> NaiveOutcome {
        guard let node = node(navigation) else { return .refused(.unknownController) }
        guard case .navigation(let old) = node.content else { return .refused(.wrongKind) }
        var stack: [NaiveNode] = []
        var new: [ControllerID] = []
        for arrival in arrivals {
            guard let arrival = NaiveNode(arrival) else { return .refused(.unknownController) }
            if stack.contains(where: { $0.id == arrival.id }) { return .refused(.alreadyOnStack) }
            if let kept = old.first(where: { $0.id == arrival.id }) {
                stack.append(kept)
                continue
            }
            guard case .view = arrival.content else { return .refused(.cannotPushContainer) }
            if isKnown(arrival) || !Set(new).isDisjoint(with: arrival.all) { return .refused(.alreadyInHierarchy) }
            stack.append(arrival)
            new += arrival.all
        }
        if stack.map(\.id) == old.map(\.id) { return .nothing }
        if stack.isEmpty { return .refused(.notOnStack) }
        return .done(changing(navigation) { $0.content = .navigation(stack) })
    }

    private func select(_ tab: Operation.Tab, of tabs: ControllerID) -> NaiveOutcome {
        guard let node = node(tabs) else { return .refused(.unknownController) }
        guard case .tabs(let children, let selected) = node.content else { return .refused(.wrongKind) }
        let index: Int
        switch tab {
        case .index(let given):
            guard children.indices.contains(given) else { return .refused(.indexOutOfRange) }
            index = given
        case .controller(let controller):
            guard let found = children.firstIndex(where: { $0.id == controller }) else { return .refused(.notAChild) }
            index = found
        }
        guard index != selected else { return .nothing }
        return .done(changing(tabs) { $0.content = .tabs($0.children, selected: index) })
    }

    private func showDetail(_ arrival: Hierarchy, in split: ControllerID) -> NaiveOutcome {
        guard let node = node(split) else { return .refused(.unknownController) }
        guard case .split(let columns, let isCollapsed) = node.content else { return .refused(.wrongKind) }
        guard isCollapsed else { return replace(columns.count - 1, of: split, with: arrival) }
        guard case .navigation? = columns.first?.content else { return present(arrival, from: split) }
        return push(arrival, on: columns[0].id)
    }

    private func replace(_ column: Int, of split: ControllerID, with arrival: Hierarchy) -> NaiveOutcome {
        guard let arrival = NaiveNode(arrival) else { return .refused(.unknownController) }
        if isKnown(arrival) { return .refused(.alreadyInHierarchy) }
        return .done(
            changing(split) {
                var columns = $0.children
                columns[column] = arrival
                $0.content = .split(columns, isCollapsed: false)
            })
    }
}

// MARK: - Segues

extension NaiveNode {
    private func follow(_ segue: Segue?, from source: ControllerID) -> NaiveOutcome {
        let layer = layer(of: source)
        guard !layer.isEmpty else { return .refused(.unknownController) }
        guard let segue else { return .refused(.unknownSegue) }
        let nearest = layer.last { [.navigation, .split].contains($0.controller.kind) }
        let nearestSplit = layer.last { $0.controller.kind == .split }
        switch segue.kind {
        case .present:
            return present(segue.destination, from: source)
        case .unwind:
            return segue.destination.root.map(unwind) ?? .refused(.unknownController)
        case .showDetail:
            guard let nearestSplit else { return present(segue.destination, from: source) }
            return showDetail(segue.destination, in: nearestSplit.id)
        case .show:
            guard let nearest else { return present(segue.destination, from: source) }
            switch nearest.content {
            case .split(_, isCollapsed: false): return replace(0, of: nearest.id, with: segue.destination)
            case .split: return showDetail(segue.destination, in: nearest.id)
            case .view, .navigation, .tabs: return push(segue.destination, on: nearest.id)
            }
        }
    }

    private func unwind(to destination: ControllerID) -> NaiveOutcome {
        let layer = layer(of: destination)
        guard !layer.isEmpty else { return .refused(.unknownController) }
        var node = self
        for (index, member) in layer.enumerated() {
            let branch = index + 1 < layer.count ? layer[index + 1].id : nil
            node = node.changing(member.id) { changed in
                changed.presented = []
                guard let position = changed.children.firstIndex(where: { $0.id == branch }) else { return }
                switch changed.content {
                case .view, .split: break
                case .navigation(let stack): changed.content = .navigation(Array(stack[...position]))
                case .tabs(let tabs, _): changed.content = .tabs(tabs, selected: position)
                }
            }
        }
        let isChanged = (try? node.hierarchy()) != (try? hierarchy())
        return isChanged ? .done(node) : .nothing
    }
}
