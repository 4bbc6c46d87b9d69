// Checks the expectations of requests.

extension Storyboard {
    /// The failed expectation with what holds instead; `nil` if it holds.
    func failure(of expectation: Expectation, at revision: Revision) -> FailedExpectation? {
        let actual: String? =
            switch expectation {
            case .revision(let expected): expected == revision ? nil : "revision \(revision.rawValue)"
            case .controller(let id, let condition): hierarchy.contradiction(of: id, being: condition)
            }
        return actual.map { FailedExpectation(expectation: expectation, actual: $0) }
    }
}

extension Hierarchy {
    /// The actual state of a controller, for people to read; `nil` if the condition holds.
    fileprivate func contradiction(of id: ControllerID, being condition: Expectation.Condition) -> String? {
        guard let controller = controllers[id] else { return condition == .absent ? nil : "absent" }
        switch condition {
        case .exists: return nil
        case .absent: return "exists"
        case .visible: return isVisible(id) ? nil : "not visible"
        case .presented: return presenter(of: id) == nil ? "not presented" : nil
        case .presenting: return controller.presented == nil ? "presents nothing" : nil
        case .top, .selected: return contradiction(of: id, shownAs: condition)
        }
    }

    private func contradiction(of id: ControllerID, shownAs condition: Expectation.Condition) -> String? {
        let kind: ControllerKind = condition == .top ? .navigation : .tabs
        guard let container = container(of: id).flatMap({ controllers[$0] }), container.kind == kind else {
            return condition == .top ? "on no stack" : "in no tabs"
        }
        guard let shown = container.shown.first, shown != id else { return nil }
        return "\(condition.rawValue) is \"\(shown)\""
    }
}
