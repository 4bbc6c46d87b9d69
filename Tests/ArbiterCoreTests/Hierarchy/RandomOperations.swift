import ArbiterTestKit

@testable import ArbiterCore

/// Random storyboards and operations on them, with few names, so that the same names meet often.
struct RandomOperations {
    private var random: SplitMix64

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
    }

    static let beginnings = [
        "nav[a]", "tabs{*n[a b] m[c] d}", "split(n[a]|s|d)", "split(n[a]|d)^", "split(a|d)^",
        "tabs!{*split(n![a]|m[b!])}>p[c]", "split(n[a])", "split(n[a m[b]])^", "tabs{*split(tabs2{*n[a] b!}|c) m[d]}",
    ]

    mutating func storyboard() throws -> Storyboard {
        let beginning = Self.beginnings.randomElement(using: &random) ?? ""
        var segues: [SegueKey: Segue] = [:]
        for _ in 0..<40 {
            let segue = Segue(
                identifier: .named("s\(Int.random(in: 0..<4, using: &random))"), source: name(),
                kind: [.show, .showDetail, .present, .unwind].randomElement(using: &random) ?? .show,
                destination: arrival())
            segues[SegueKey(source: segue.source, identifier: segue.identifier)] = segue
        }
        let sorted = segues.values.sorted {
            ($0.source.description, $0.identifier.description) < ($1.source.description, $1.identifier.description)
        }
        return try Storyboard(hierarchy: .outlined(beginning), segues: sorted)
    }

    /// An operation, mostly on existing controllers; presentations and dismissals are more frequent than others.
    mutating func operation(on hierarchy: Hierarchy) -> Operation {
        switch Int.random(in: 0..<18, using: &random) {
        case 0, 1, 2: .present(presenter: member(of: hierarchy), controller: arrival())
        case 3: .dismiss(member(of: hierarchy))
        case 4, 5: .push(navigation: member(of: hierarchy, .navigation), controller: arrival())
        case 6: .pop(navigation: member(of: hierarchy, .navigation))
        case 7: .popTo(navigation: member(of: hierarchy, .navigation), controller: member(of: hierarchy))
        case 8: .popToRoot(navigation: member(of: hierarchy, .navigation))
        case 9: setStack(in: hierarchy)
        case 10: .select(tabs: member(of: hierarchy, .tabs), .index(Int.random(in: -1...3, using: &random)))
        case 11: .select(tabs: member(of: hierarchy, .tabs), .controller(member(of: hierarchy)))
        case 12: .showDetail(split: member(of: hierarchy, .split), controller: arrival())
        case 13: .collapse(split: member(of: hierarchy, .split))
        case 14: .expand(split: member(of: hierarchy, .split))
        case 15: setTabs(in: hierarchy)
        case 16: random.isOnce(in: 6) ? .setRoot(arrival()) : segue(in: hierarchy)
        default: segue(in: hierarchy)
        }
    }

    private mutating func setTabs(in hierarchy: Hierarchy) -> Operation {
        let tabs = member(of: hierarchy, .tabs)
        let kept = (hierarchy[tabs]?.children ?? []).shuffled(using: &random)
            .prefix(Int.random(in: 0...3, using: &random)).map { ArbiterCoreTests.arrival($0.description) }
        let new = (0..<Int.random(in: 0...2, using: &random)).map { _ in arrival() }
        return .setTabs(
            tabs: tabs, controllers: (kept + new).shuffled(using: &random),
            selected: random.isOnce(in: 3) ? Int.random(in: -1...3, using: &random) : nil)
    }

    private mutating func segue(in hierarchy: Hierarchy) -> Operation {
        .segue(
            source: member(of: hierarchy), .named("s\(Int.random(in: 0..<4, using: &random))"),
            destination: random.isOnce(in: 3) ? arrival() : nil)
    }

    private mutating func setStack(in hierarchy: Hierarchy) -> Operation {
        let navigation = member(of: hierarchy, .navigation)
        let kept = (hierarchy[navigation]?.children ?? []).shuffled(using: &random)
            .prefix(Int.random(in: 0...3, using: &random)).map { ArbiterCoreTests.arrival($0.description) }
        let new = (0..<Int.random(in: 0...2, using: &random)).map { _ in arrival() }
        return .setStack(navigation: navigation, controllers: (kept + new).shuffled(using: &random))
    }

    /// A controller that exists, mostly of the requested kind.
    private mutating func member(of hierarchy: Hierarchy, _ kind: ControllerKind? = nil) -> ControllerID {
        guard !random.isOnce(in: 16) else { return name() }
        let isOfKind = !random.isOnce(in: 16)
        let members = hierarchy.preorder.filter { kind == nil || !isOfKind || $0.kind == kind }
        return members.randomElement(using: &random)?.id ?? name()
    }

    private mutating func name() -> ControllerID {
        id(["a", "b", "c", "d", "e", "f", "n", "m", "p", "x", "y", "z", "v", "w"].randomElement(using: &random) ?? "a")
    }

    private mutating func arrival() -> Hierarchy {
        while true {
            let arrow = ["", "~>", "@>", "~@>"].randomElement(using: &random) ?? ""
            let top = "\(arrow)\(name())\(random.isOnce(in: 3) ? "!" : "")"
            let content =
                switch Int.random(in: 0..<12, using: &random) {
                case 0: "[\(name())]"
                case 1: "{*\(name()) \(name())}"
                case 2: "(\(name())|\(name()))"
                case 3: "(\(name())[\(name())]|\(name()))^"
                case 4: ["~>", ">", "~@>"].randomElement(using: &random).map { "\($0)\(name())" } ?? ""
                default: ""
                }
            // If a name occurs twice, the hierarchy is invalid.
            if let arrival = try? Hierarchy.outlined(top + content) { return arrival }
        }
    }

    private struct SegueKey: Hashable {
        let source: ControllerID
        let identifier: SegueIdentifier
    }
}
