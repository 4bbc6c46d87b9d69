// Checks the expectations of requests.

extension Storyboard {
    /// The first failed expectation of a request; one that can never hold, a revision that is past, before all others.
    func failure(of request: TransitionRequest, at revision: Revision) -> FailedExpectation? {
        let failures = request.expectations.lazy.compactMap { failure(of: $0, at: revision) }
        guard request.unmet == .wait else { return failures.first }
        return failures.first { $0.isFinal(at: revision) } ?? failures.first
    }

    /// The failed expectation with what holds instead; `nil` if it holds.
    func failure(of expectation: Expectation, at revision: Revision) -> FailedExpectation? {
        let actual: String? =
            switch expectation {
            case .revision(let expected): expected == revision ? nil : "revision \(revision.rawValue)"
            case .controller(let id, let condition, isNegated: false): hierarchy.contradiction(of: id, being: condition)
            case .controller(let id, let condition, isNegated: true):
                hierarchy.contradiction(of: id, being: condition) == nil ? condition.rawValue : nil
            }
        return actual.map { FailedExpectation(expectation: expectation, actual: $0) }
    }
}

extension FailedExpectation {
    /// Whether it can never hold again.
    func isFinal(at revision: Revision) -> Bool {
        if case .revision(let expected) = expectation { expected < revision } else { false }
    }
}

extension Hierarchy {
    /// The actual state of a controller, for people to read; `nil` if the condition holds.
    fileprivate func contradiction(of id: ControllerID, being condition: Expectation.Condition) -> String? {
        guard controllers[id] != nil else { return condition == .absent ? nil : "absent" }
        switch condition {
        case .exists: return nil
        case .absent: return "exists"
        case .visible: return isVisible(id) ? nil : "not visible"
        case .presented: return isInPresentation(id) ? nil : "not presented"
        case .presenting: return isInPresentingLayer(id) ? nil : "presents nothing"
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

    /// Whether a controller is what a presentation put up, or stands in it.
    package func isInPresentation(_ id: ControllerID) -> Bool {
        layer(upFrom: id).last.map { presenter(of: $0.id) != nil } ?? false
    }

    /// Whether a controller, or an ancestor in its layer, presents.
    package func isInPresentingLayer(_ id: ControllerID) -> Bool {
        layer(upFrom: id).contains { $0.presented != nil }
    }
}
