/// A condition on the hierarchy that is checked at the grant.
package enum Expectation: Hashable, Sendable {
    case controller(ControllerID, is: Condition)
    case revision(Revision)

    package enum Condition: String, Hashable, Sendable, CaseIterable {
        case exists
        case absent
        case visible
        /// Another controller presents it.
        case presented
        /// It presents another controller.
        case presenting
        /// It is the top of its navigation stack.
        case top
        /// It is the selected tab.
        case selected
    }
}

/// An expectation that did not hold.
package struct FailedExpectation: Hashable, Sendable {
    package let expectation: Expectation
    /// What holds instead, for people to read.
    package let actual: String
}
