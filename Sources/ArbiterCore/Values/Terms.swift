/// What an arbiter's next records are made under.
package struct Terms: Hashable, Sendable {
    package var rules: Rules
    /// What is forgotten, as the journal has to name it; `nil` where the limits of the process decide.
    package var retention: Retention?

    package init(rules: Rules = .newest, retention: Retention? = nil) {
        (self.rules, self.retention) = (rules, retention)
    }
}
