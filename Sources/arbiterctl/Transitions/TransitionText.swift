internal import ArbiterClient
internal import Foundation

/// A transition in words.
struct TransitionText {
    let document: JSONValue

    init(_ document: JSONValue) { self.document = document }

    var id: String { text("id") ?? "-" }
    var client: String { text("client") ?? "nobody in particular" }
    var state: String { text("state") ?? "-" }

    /// A member that is a text, fit for a terminal.
    func text(_ name: String) -> String? { document[name]?.string?.printable }

    func seconds(_ name: String) -> Double? { document[name]?.number }

    /// What it does: the type of each operation and what that concerns, or `lock`.
    var operation: String {
        let operations = document["operations"]?.array ?? [document["operation"]].compactMap(\.self)
        let said = operations.compactMap { $0.object.flatMap { words(of: $0) } }
        return said.isEmpty ? "lock" : said.joined(separator: ", ")
    }

    private func words(of operation: [String: JSONValue]) -> String? {
        guard let type = operation["type"]?.string else { return nil }
        // What comes, goes or is followed is said first, and then where.
        let first = ["controller", "identifier"]
        let names = first + operation.keys.filter { $0 != "type" && !first.contains($0) }.sorted()
        let concerned = names.compactMap { name in operation[name].flatMap { $0.string ?? $0["id"]?.string } }
        return ([type] + concerned).joined(separator: " ").printable
    }

    /// What it locks.
    var locked: String {
        let isShared = document["mode"]?.string == "shared"
        let names = document["locks"]?.array?.compactMap(\.string).joined(separator: ", ").printable
        return (names ?? "the whole scene") + (isShared ? " (shared)" : "")
    }

    /// What a ticket that is set aside waits for; `nil` if it is not.
    var unmet: String? {
        guard let unmet = document["unmetExpectation"], let expected = unmet["expected"]?.string,
            let actual = unmet["actual"]?.string
        else { return nil }
        return "\(expected); found: \(actual)".printable
    }

    /// Who has to be ready before it runs, while it prepares.
    var missing: String? {
        guard state == "preparing" else { return nil }
        var names: [String] = []
        for participant in document["participants"]?.array ?? []
        where participant["required"] == true && participant["state"] == "waiting" {
            guard let client = participant["client"]?.string, !names.contains(client) else { continue }
            names.append(client)
        }
        return names.isEmpty ? nil : names.joined(separator: ", ").printable
    }

    /// Why it is held, behind other words.
    var noteAside: String { text("note").map { " (“\($0)”)" } ?? "" }

    /// How it is, on one line.
    var line: String {
        var words = [id, state]
        if let outcome = text("outcome") { words = [id, outcome] }
        if let reason = text("detail") ?? text("reason") { words.append("(\(reason))") }
        if let position = seconds("position") { words.append("at position \(Int(position))") }
        if let blockers = document["blockers"]?.array {
            words.append("behind \(blockers.compactMap(\.string).joined(separator: ", "))")
        }
        if let unmet { words.append("set aside, expected: \(unmet)") }
        if let note = text("note") { words.append("“\(note)”") }
        if let missing { words.append("waits for \(missing)") }
        if let fence = seconds("fence"), state != "ended" { words.append("fence \(Int(fence))") }
        if let lease = seconds("leaseRemaining") { words.append("lease \(lease.inTenths) s") }
        return words.joined(separator: "  ")
    }
}

extension Double {
    /// With one decimal.
    var inTenths: String {
        (self * 10).rounded() / 10 == rounded() ? "\(Int(rounded()))" : "\((self * 10).rounded() / 10)"
    }
}

extension JSONOutput {
    /// Writes a transition, as JSON or in words.
    func write(_ transition: JSONValue) {
        Terminal.output.line(isWanted ? transition.text() : TransitionText(transition).line)
    }
}
