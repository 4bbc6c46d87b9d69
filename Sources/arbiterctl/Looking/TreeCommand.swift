internal import ArbiterClient
internal import ArgumentParser

/// `arbiterctl tree`.
struct TreeCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "tree", abstract: "Draws the controllers of a scene, and what is locked.",
        discussion: """
            A controller that a transition locks is marked, with all below it. The selected tab has a star. With --watch \
            the tree is drawn anew as it changes; where output is no terminal, it is written again after each change. That \
            goes on while the scene is not there, and while the daemon cannot be reached.
            """
    )

    @OptionGroup var connection: Connection

    @OptionGroup var scene: SceneOption

    @Flag(help: "Draw it again as it changes, until interrupted.")
    var watch = false

    @OptionGroup var json: JSONOutput

    func run(_ arbiter: Arbiter) async throws {
        if json.isWanted {
            let document = try await arbiter.scene(scene.name).read()
            return Terminal.output.line((document["hierarchy"] ?? .null).text())
        }
        guard watch else { return Terminal.output.lines(try await lines(arbiter)) }
        if Terminal.output.isTerminal {
            return try await LiveView().run(arbiter.scene(scene.name).events()) { try await lines(arbiter) }
        }
        var last: [String] = []
        for try await _ in arbiter.scene(scene.name).events(since: "0") {
            let lines = try await linesWhenReachable(arbiter)
            if lines != last { Terminal.output.lines(lines + [""]) }
            last = lines
        }
    }

    /// The lines as soon as the daemon answers; its words if there is no such scene, as after a restart without a journal.
    private func linesWhenReachable(_ arbiter: Arbiter) async throws -> [String] {
        while true {
            do {
                return try await lines(arbiter)
            } catch ClientError.refused(let refusal) where refusal.code == "unknown-scene" {
                return [refusal.detail.printable]
            } catch ClientError.unreachable(let reason) {
                // It has been repeated for --patience already.
                Exit.tell("\(ClientError.unreachable(reason))")
            } catch ClientError.refused(let refusal) where [429, 503].contains(refusal.status) {
                Exit.tell("\(ClientError.refused(refusal))")
            }
            try await Task.sleep(for: .seconds(1))
        }
    }

    private func lines(_ arbiter: Arbiter) async throws -> [String] {
        let scene = try await SceneText.read(arbiter, scene.name)
        return [Terminal.output.styled(scene.summary, .bold)] + TreeDrawing(scene).lines
    }
}

/// The controllers of a scene as lines.
struct TreeDrawing {
    private let scene: SceneText
    private let terminal = Terminal.output
    /// Who holds each controller that is locked.
    private var holders: [String: [TransitionText]] = [:]
    private(set) var lines: [String] = []

    init(_ scene: SceneText) {
        self.scene = scene
        for transition in scene.running {
            guard let locks = transition.document["locks"]?.array else {
                lines.append(terminal.styled("the whole scene is locked: \(Self.holder(transition))", .yellow))
                continue
            }
            for id in locks.compactMap(\.string) { holders[id, default: []].append(transition) }
        }
        guard let root = scene.hierarchy.root else {
            lines.append("(no controllers)")
            return
        }
        add(root, "", "", "", isLocked: false)
    }

    private static func holder(_ transition: TransitionText) -> String {
        "\(transition.operation), by \(transition.client) (\(transition.id))"
    }

    /// Adds a node and all below it.
    private mutating func add(
        _ node: HierarchyNode, _ indent: String, _ branch: String, _ role: String, isLocked: Bool
    ) {
        let holders = holders[node.id] ?? []
        let isLocked = isLocked || !holders.isEmpty
        var label = role + node.id.printable
        if node.kind != "view" { label += " (\(node.kind)\(node.isCollapsed ? ", collapsed" : ""))" }
        var line = indent + branch + (isLocked ? terminal.styled(label, .yellow) : label)
        for holder in holders { line += terminal.styled("  locked: \(Self.holder(holder))", .yellow) }
        lines.append(line)
        let rest = below(node)
        let inner = indent + (branch.isEmpty ? "" : branch.hasPrefix("└") ? "   " : "│  ")
        for (index, (role, child)) in rest.enumerated() {
            add(child, inner, index == rest.count - 1 ? "└─ " : "├─ ", role, isLocked: isLocked)
        }
    }

    /// What is directly below a node, each with what it is there.
    private func below(_ node: HierarchyNode) -> [(String, HierarchyNode)] {
        let children = node.children.enumerated().map { index, child in
            (node.selected == index ? "* " : "", child)
        }
        let columns = ["primary", "supplementary", "secondary"].compactMap { name in
            node.columns[name].map { ("\(name): ", $0) }
        }
        return children + columns + (node.presented.map { [("presents ", $0)] } ?? [])
    }
}
