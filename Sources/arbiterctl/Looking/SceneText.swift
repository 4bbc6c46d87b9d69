internal import ArbiterClient
internal import Foundation

/// A scene as the daemon answers it, in words.
struct SceneText {
    let name: String
    let revision: Int
    let runningCount: Int
    let queuedCount: Int
    let running: [TransitionText]
    let queue: [TransitionText]
    /// Who is asked before which controllers are removed.
    let guards: [(client: String, controllers: String)]
    let hierarchy: Hierarchy
    /// The daemon's clock when it answered, to the second.
    private let now: Date?

    init(_ answer: WireAnswer) throws {
        let document = try answer.accepted()
        name = document["name"]?.string?.printable ?? "-"
        revision = Int(document["revision"]?.number ?? 0)
        runningCount = Int(document["runningCount"]?.number ?? 0)
        queuedCount = Int(document["queuedCount"]?.number ?? 0)
        running = (document["running"]?.array ?? []).map { TransitionText($0) }
        queue = (document["queue"]?.array ?? []).map { TransitionText($0) }
        guards = (document["guards"]?.array ?? []).map { known in
            let controllers = known["controllers"]?.array?.compactMap(\.string) ?? []
            return (known["client"]?.string?.printable ?? "-", controllers.joined(separator: ", ").printable)
        }
        hierarchy = Hierarchy(scene: document)
        now = answer.date.flatMap { HTTPDate.date($0) }
    }

    /// Reads a scene.
    static func read(_ arbiter: Arbiter, _ name: String) async throws -> SceneText {
        try SceneText(try await arbiter.ask(WireRequest("GET", arbiter.scene(name).path())))
    }

    /// How long ago an instant of a transition was, by the daemon's clock, in words.
    func age(_ transition: TransitionText, since member: String) -> String {
        guard let now, let text = transition.document[member]?.string,
            let then = try? Date(text, strategy: .iso8601WithFractions)
        else { return "-" }
        let seconds = Int(max(0, now.timeIntervalSince(then)).rounded())
        return seconds < 60 ? "\(seconds) s" : "\(seconds / 60) min \(seconds % 60) s"
    }

    /// Counts in words.
    var summary: String { "\(name)  revision \(revision), \(runningCount) running, \(queuedCount) waiting" }

    /// Who holds or waits, by an id.
    func transition(_ id: String) -> TransitionText? { (running + queue).first { $0.id == id } }
}

extension ParseStrategy where Self == Date.ISO8601FormatStyle {
    static var iso8601WithFractions: Self { Date.ISO8601FormatStyle(includingFractionalSeconds: true) }
}

/// The date of a header field.
enum HTTPDate {
    /// - Returns: `nil` if the text is no date (RFC 9110, section 5.6.7).
    static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: text)
    }
}
