// What operations come to, and what they do.

extension Storyboard {
    /// The controllers whose subtrees an operation locks with the scope `operation`, as far as they are there.
    ///
    /// They depend on nothing that changes while its named controllers stay where they are.
    func anchors(of operation: Operation) -> [ControllerID] {
        []
    }

    /// What the operation comes to in the hierarchy as it is.
    ///
    /// - Returns: `nil` where it would do nothing.
    /// - Throws: `OperationRefusal` where UIKit would not do it.
    func plan(_ operation: Operation) throws(OperationRefusal) -> OperationPlan? {
        nil
    }

    /// Does what was planned for the hierarchy as it is.
    @discardableResult
    mutating func apply(_ plan: OperationPlan) -> HierarchyChange {
        HierarchyChange(arrived: [], departed: [])
    }

    /// What is found of an expectation where it does not hold.
    func failure(of expectation: Expectation, at revision: Revision) -> FailedExpectation? {
        nil
    }
}

extension OperationPlan {
    /// What is told when the transition starts to run.
    package var beginning: [AppearanceEvent] { [] }

    /// What is told when it ends.
    package func ending(isCompleted: Bool) -> [AppearanceEvent] { [] }
}
