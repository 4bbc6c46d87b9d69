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
        "tabs!{*split(n![a]|m[b!])}>p[c]", "split(n[a])", "split(n[a m[b]])^", "split(n[a &s[b] +d])^",
        "split(n[a]||d)", "split(n[+d a]|s{*b}|)^", "tabs{*split(tabs2{*n[a] b!}|c) m[d]}",
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

    /// An operation, mostly on existing controllers; presentations, pushes and selections are more frequent than others.
    mutating func operation(on hierarchy: Hierarchy) -> Operation {
        var draw = HierarchyDraw(random: random, hierarchy: hierarchy)
        defer { random = draw.random }
        return draw.operation()
    }

    /// Operations that mostly are possible one after the other.
    mutating func list(on storyboard: Storyboard) -> Operation {
        var (storyboard, operations) = (storyboard, [Operation]())
        for _ in 0..<Int.random(in: 2...5, using: &random) {
            var operation = operation(on: storyboard.hierarchy)
            for _ in 0..<4 where (try? storyboard.plan(operation)).flatMap(\.self) == nil {
                operation = self.operation(on: storyboard.hierarchy)
            }
            if let plan = (try? storyboard.plan(operation)).flatMap(\.self) { storyboard.hierarchy.apply(plan.steps) }
            operations.append(operation)
        }
        return .list(operations)
    }

    private mutating func name() -> ControllerID { random.name() }

    private mutating func arrival() -> Hierarchy { random.arrival() }

    private struct SegueKey: Hashable {
        let source: ControllerID
        let identifier: SegueIdentifier
    }
}

private struct HierarchyDraw: DrawnOperations {
    /// Each type, and some more often.
    private static let types: [OperationType] = OperationType.allCases + [.present, .present, .push, .select]

    var random: SplitMix64
    let hierarchy: Hierarchy

    mutating func operation() -> Operation {
        let type = Self.types.randomElement(using: &random) ?? .segue
        // A new root is rare, so that the tree can grow.
        return operation(of: type == .setRoot && !random.isOnce(in: 6) ? .segue : type)
    }

    mutating func member(_ kind: ControllerKind?) -> ControllerID {
        guard !random.isOnce(in: 16) else { return name() }
        let isOfKind = !random.isOnce(in: 16)
        let members = hierarchy.preorder.filter { kind == nil || !isOfKind || $0.kind == kind }
        return members.randomElement(using: &random)?.id ?? name()
    }

    func children(of id: ControllerID) -> [ControllerID] { hierarchy[id]?.children ?? [] }

    mutating func name() -> ControllerID { random.name() }

    mutating func arrival() -> Hierarchy { random.arrival() }

    mutating func segue() -> Operation {
        .segue(
            source: member(nil), .named("s\(Int.random(in: 0..<4, using: &random))"),
            destination: random.isOnce(in: 3) ? arrival() : nil)
    }
}

extension SplitMix64 {
    fileprivate mutating func name() -> ControllerID {
        id(["a", "b", "c", "d", "e", "f", "n", "m", "p", "x", "y", "z", "v", "w"].randomElement(using: &self) ?? "a")
    }

    fileprivate mutating func arrival() -> Hierarchy {
        while true {
            let arrow = ["", "~>", "@>", "~@>"].randomElement(using: &self) ?? ""
            let top = "\(arrow)\(name())\(isOnce(in: 3) ? "!" : "")"
            let content =
                switch Int.random(in: 0..<12, using: &self) {
                case 0: "[\(name())]"
                case 1: "{*\(name()) \(name())}"
                case 2: "(\(name())|\(name()))"
                case 3: "(\(name())[\(name())]|\(name()))^"
                case 4: ["~>", ">", "~@>"].randomElement(using: &self).map { "\($0)\(name())" } ?? ""
                default: ""
                }
            // If a name occurs twice, the hierarchy is invalid.
            if let arrival = try? Hierarchy.outlined(top + content) { return arrival }
        }
    }
}
