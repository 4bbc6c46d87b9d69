import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// A client that applies the changes of `hierarchy.changed` has the tree that `GET` shows, without asking for it.
struct FollowedTreeTests {
    private static let steps = Seeds.night == nil ? 1_500 : 10_000
    /// Of the operations, how many have to be done, so that the run says something.
    private static let least = steps / 4

    @Test func `after thousands of random operations, storyboards and restarts`() throws {
        var random = SplitMix64(seed: Seeds.night ?? 12)
        let journal = MemoryJournal(keepsRecords: true)
        let time = ManualTime()
        var service = try Service(journal: journal, time: time)
        var tree = FollowedTree()
        var (heard, done) = (UInt64(0), 0)
        for step in 0..<Self.steps {
            if step.isMultiple(of: 400) {
                let root = random.tree(of: random.freshNames(6), depth: 3)
                try service.declared(#"{"root": \#(root), "transitionTypes": [{"name": "star"}]}"#)
            }
            if step % 997 == 500 { service = try Service(journal: journal, time: time) }
            if step % 500 == 499 { #expect(try service.ask("DELETE", "/scenes/main").status == 204) }
            done += try operate(service, on: tree, &random) ? 1 : 0
            // A restart tells everything again; a client that resumes gets what it has not heard.
            for event in service.told.all.drop(while: { ($0.number?.rawValue ?? 0) <= heard }) {
                try follow(event, &tree, &heard)
            }
            let answer = try service.ask("GET", "/scenes/main")
            let shown = answer.body["hierarchy"]
            guard tree.json == shown else {
                Issue.record(
                    "step \(step): \(String(describing: tree.json)) is followed, not \(String(describing: shown))")
                return
            }
        }
        #expect(done >= Self.least, "\(done)")
    }

    private func follow(_ event: SceneEvent, _ tree: inout FollowedTree, _ heard: inout UInt64) throws {
        guard let number = event.number?.rawValue else { return }
        heard = number
        let text = String(decoding: EventJSON.encode(event, in: .scene(.main)), as: UTF8.self)
        let lines = text.split(separator: "\n")
        let data = try #require(lines.first { $0.hasPrefix("data: ") }).dropFirst(6)
        if lines.contains("event: scene.deleted") { try tree.apply(["type": "replace"]) }
        guard lines.contains("event: hierarchy.changed") else { return }
        for change in try #require(try JSON(Array(data.utf8))["changes"]).elements { try tree.apply(change) }
    }

    /// Requests a random operation and ends it.
    ///
    /// - Returns: whether it was possible.
    private func operate(
        _ service: Service, on tree: FollowedTree, _ random: inout SplitMix64
    ) throws -> Bool {
        let body = #"{"operation": \#(random.operation(on: tree)), "animation": {"type": "star"}}"#
        let answer = try service.ask("POST", "/transitions/start", random.isOnce(in: 2) ? body : body.plain)
        guard answer.status == 201 else {
            #expect([200, 422].contains(answer.status), "\(answer.body)")
            return false
        }
        let end = random.isOnce(in: 5) ? #""outcome": "cancelled""# : ""
        return try service.ask("POST", "/transitions/end", try Owned(answer).acting(end)).status == 200
    }
}

extension String {
    /// The same body without an animation.
    fileprivate var plain: String { replacing(#", "animation": {"type": "star"}"#, with: "") }
}

extension SplitMix64 {
    private static let names = (0..<24).map { "c\($0)" }

    fileprivate mutating func freshNames(_ count: Int) -> [String] {
        Array(Self.names.shuffled(using: &self).prefix(count))
    }

    private mutating func name() -> String { Self.names[Int.random(in: 0..<24, using: &self)] }

    /// A random node whose names are taken from the list.
    fileprivate mutating func tree(of names: [String], depth: Int) -> String {
        guard let first = names.first else { return #""c0""# }
        var rest = names.dropFirst()
        func part(_ count: Int) -> [String] {
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        var presented = ""
        if isOnce(in: 4), rest.count > 1 { presented = #", "presented": \#(tree(of: part(1), depth: 0))"# }
        let style = isOnce(in: 3) ? #", "presentationStyle": "overFullScreen""# : ""
        let head = #""id": "\#(first)"\#(presented)\#(style)"#
        guard depth > 0, rest.count > 1 else { return "{\(head)}" }
        switch Int.random(in: 0..<4, using: &self) {
        case 0:
            return
                #"{\#(head), "kind": "navigation", "children": [\#(part(2).map { "\"\($0)\"" }.joined(separator: ","))]}"#
        case 1, 2:
            let half = rest.count / 2
            let children = [part(half), part(rest.count)].filter { !$0.isEmpty }.map { tree(of: $0, depth: depth - 1) }
            return #"{\#(head), "kind": "tabs", "children": [\#(children.joined(separator: ","))]}"#
        default:
            let half = rest.count / 2
            let (left, right) = (part(half), part(rest.count))
            return #"{\#(head), "kind": "split", "primary": \#(tree(of: left, depth: depth - 1)), "#
                + #""secondary": \#(tree(of: right, depth: depth - 1)), "collapsed": \#(isOnce(in: 2)), "#
                + #""style": "\#(isOnce(in: 2) ? "tripleColumn" : "doubleColumn")"}"#
        }
    }

    /// A random operation, mostly on a controller of the kind that it needs.
    fileprivate mutating func operation(on tree: FollowedTree) -> String {
        func target(_ kind: String?, _ random: inout SplitMix64) -> String {
            let known = tree.controllers(kind)
            return random.isOnce(in: 8) || known.isEmpty ? random.name() : known.randomElement(using: &random) ?? "c0"
        }
        let other = name()
        let arrival = self.tree(of: freshNames(Int.random(in: 1...3, using: &self)), depth: 2)
        let navigation = target("navigation", &self)
        let tabs = target("tabs", &self)
        let split = target("split", &self)
        let any = target(nil, &self)
        let column = ["supplementary", "secondary"].randomElement(using: &self) ?? ""
        return switch Int.random(in: 0..<25, using: &self) {
        case 0, 1: #"{"type": "present", "presenter": "\#(any)", "controller": \#(arrival)}"#
        case 2, 3: #"{"type": "dismiss", "controller": "\#(any)"}"#
        case 4, 5, 6: #"{"type": "push", "navigation": "\#(navigation)", "controller": "\#(other)"}"#
        case 7: #"{"type": "pop", "navigation": "\#(navigation)"}"#
        case 8: #"{"type": "popTo", "navigation": "\#(navigation)", "controller": "\#(any)"}"#
        case 9, 10: #"{"type": "setStack", "navigation": "\#(navigation)", "controllers": ["\#(other)", "\#(name())"]}"#
        case 11, 12: #"{"type": "select", "tabs": "\#(tabs)", "offset": \#(isOnce(in: 2) ? 1 : -1)}"#
        case 13: #"{"type": "showDetail", "split": "\#(split)", "controller": \#(arrival)}"#
        case 14: #"{"type": "collapse", "split": "\#(split)"}"#
        case 18: #"{"type": "collapse", "split": "\#(split)", "topColumn": "\#(column)"}"#
        case 19: #"{"type": "showColumn", "split": "\#(split)", "column": "\#(column)"}"#
        case 20:
            #"{"type": "setColumn", "split": "\#(split)", "column": "\#(column)", "controller": \#(isOnce(in: 3) ? "null" : arrival)}"#
        case 15: #"{"type": "expand", "split": "\#(split)"}"#
        case 16: #"{"type": "setTabs", "tabs": "\#(tabs)", "controllers": ["\#(other)", \#(arrival)]}"#
        case 21: #"{"type": "insertTab", "tabs": "\#(tabs)", "controller": \#(arrival), "index": 0}"#
        case 22: #"{"type": "removeTab", "tabs": "\#(tabs)", "controller": "\#(any)"}"#
        case 17: #"{"type": "popToRoot", "navigation": "\#(navigation)"}"#
        default: #"{"type": "setRoot", "controller": \#(self.tree(of: freshNames(10), depth: 3))}"#
        }
    }
}
