/// A condition on the hierarchy that is checked at the grant.
package enum Expectation: Hashable, Sendable {
    /// The controller is so or, if it is negated, it is not.
    case controller(ControllerID, is: Condition, isNegated: Bool = false)
    case revision(Revision)

    package enum Condition: String, Hashable, Sendable, CaseIterable {
        case exists
        case absent
        case visible
        /// Another controller presents it, or it stands in what is presented.
        case presented
        /// It presents another controller, or the nearest ancestor in its layer does; so a dismissal of it does something.
        case presenting
        /// It is the top of its navigation stack.
        case top
        /// It is the selected tab.
        case selected
    }

    /// The oldest rules that know it.
    var neededRules: Rules { if case .controller(_, _, isNegated: true) = self { .second } else { .first } }
}

/// An expectation that did not hold.
package struct FailedExpectation: Hashable, Sendable {
    package let expectation: Expectation
    /// What holds instead, for people to read.
    package let actual: String
}
