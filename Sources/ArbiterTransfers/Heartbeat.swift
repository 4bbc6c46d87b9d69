/// How often a stream of events lives at least, as its daemon says in the head of the answer.
package enum Heartbeat {
    /// The field that has the longest time between two pieces of the stream, in seconds.
    package static let field = "Arbiter-Heartbeat-Seconds"
    /// The shortest silence after which a stream is taken for dead.
    package static let shortestSilence = Duration.seconds(3)
    /// What two pieces may take longer than the daemon says.
    package static let margin = Duration.seconds(1)

    /// After how long a silence a stream is taken for dead: when two comments are missing.
    ///
    /// - Parameter text: the value of the field.
    /// - Returns: the time; `nil` if the value says none.
    package static func silence(saidBy text: String?) -> Duration? {
        guard let seconds = text.flatMap({ Double($0) }), seconds > 0, seconds <= longestSeconds else { return nil }
        return max(shortestSilence, .seconds(2 * seconds) + margin)
    }

    /// The value of the field.
    ///
    /// - Parameter interval: the longest time between two pieces of the stream.
    /// - Returns: the text.
    package static func text(_ interval: Duration) -> String {
        let milliseconds = Int((interval / .milliseconds(1)).rounded(.up))
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)" : "\(Double(milliseconds) / 1000)"
    }

    /// What no daemon says, in seconds.
    private static let longestSeconds = 3600.0
}
