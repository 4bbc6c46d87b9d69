/// What hears the words of clients, and so knows until when their silence is certain.
package protocol Hearing: Sendable {
    /// For how long words of clients may have lain unheard until now; zero if every word that has come has been heard.
    var lag: Duration { get }
}

/// Hears every word at once.
package struct ImmediateHearing: Hearing {
    package init() {}

    package var lag: Duration { .zero }
}
