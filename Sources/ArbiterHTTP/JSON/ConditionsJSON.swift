internal import ArbiterCore

// Scopes and expectations: what a transition locks, and what must hold at the grant.

extension JSONReader {
    /// Reads `"scene"`, `"operation"` or a list of controllers' ids.
    ///
    /// - Throws: `invalid-field` if the value is something else, or if the list is empty or too long.
    mutating func scope(_ field: String) throws(Problem) -> Scope {
        switch valueType {
        case .string:
            switch try text() {
            case "scene": return .scene
            case "operation": return .operation
            default: throw invalid(field, "must be \(Self.scopeWanted)")
            }
        case .array:
            let controllers = try controllers(field)
            guard !controllers.isEmpty else { throw invalid(field, "must name one controller at least") }
            return .controllers(controllers)
        case .object: return .anyOf(try severalNames(field))
        case .number, .boolean, .null, nil:
            throw try mismatch(field, Self.scopeWanted)
        }
    }

    /// The names of a scope that is to get any of them.
    private mutating func severalNames(_ field: String) throws(Problem) -> [ControllerID] {
        var names: [ControllerID]?
        try object(field) { member, reader throws(Problem) in
            guard member == "anyOf" else { throw reader.unknown(member) }
            names = try reader.controllers(member)
        }
        guard let names else { throw Problem.missing("\(name(of: field)).anyOf") }
        guard names.count > 1 else { throw .invalid("\(name(of: field)).anyOf", "must have two names at least") }
        guard Set(names).count == names.count else {
            throw .invalid("\(name(of: field)).anyOf", "has a name twice")
        }
        return names
    }

    private mutating func controllers(_ field: String) throws(Problem) -> [ControllerID] {
        var controllers: [ControllerID] = []
        try array(field, upTo: Limits.scopeControllers) { element, reader throws(Problem) in
            controllers.append(try reader.name(element))
        }
        return controllers
    }

    private static let scopeWanted =
        "\"scene\", \"operation\", a list of controller ids or names, or an object with \"anyOf\""

    /// Reads one expectation, or a list of them.
    ///
    /// - Throws: a problem that names the field within it.
    mutating func expectations(_ field: String) throws(Problem) -> [Expectation] {
        switch valueType {
        case .object: return [try expectation(field)]
        case .array:
            var expectations: [Expectation] = []
            try array(field, upTo: Limits.expectations) { element, reader throws(Problem) in
                expectations.append(try reader.expectation(element))
            }
            return expectations
        case .string, .number, .boolean, .null, nil:
            throw try mismatch(field, "an expectation or a list of them")
        }
    }

    /// Reads `{"controller": "B", "is": "presented"}`, perhaps with `"not": true`, or `{"revision": 41}`.
    private mutating func expectation(_ field: String) throws(Problem) -> Expectation {
        var controller: ControllerID?
        var condition: Expectation.Condition?
        var isNegated: Bool?
        var revision: Revision?
        try openObject(field)
        var seen = MemberNames()
        while let member = try nextMember(&seen) {
            switch member {
            case "controller": controller = try name(member)
            case "is": condition = try word(member)
            case "not": isNegated = try boolean(member)
            case "revision": revision = Revision(rawValue: UInt64(try integer(member, in: 0 ... .max)))
            default: throw unknown(member)
            }
        }
        if let revision {
            guard controller == nil, condition == nil, isNegated == nil else {
                throw invalid("revision", "cannot be given together with the other members of an expectation")
            }
            leave()
            return .revision(revision)
        }
        guard let controller else { throw missing("controller") }
        guard let condition else { throw missing("is") }
        leave()
        return .controller(controller, is: condition, isNegated: isNegated ?? false)
    }
}

// MARK: - Writing

extension JSONWriter {
    mutating func member(_ name: StaticString, _ scope: Scope) {
        switch scope {
        case .scene: member(name, "scene")
        case .operation: member(name, "operation")
        case .controllers(let controllers): member(name, controllers)
        case .anyOf(let names): object(name) { $0.member("anyOf", names) }
        }
    }

    mutating func member(_ name: StaticString, _ expectations: [Expectation]) {
        array(name, expectations) { writer, expectation in
            writer.object { $0.members(of: expectation) }
        }
    }

    mutating func members(of expectation: Expectation) {
        switch expectation {
        case .controller(let controller, let condition, let isNegated):
            member("controller", controller)
            member("is", condition.rawValue)
            if isNegated { member("not", true) }
        case .revision(let revision):
            member("revision", revision.rawValue)
        }
    }

    /// The events in order: `[{"controller": "a", "event": "willAppear"}]`.
    mutating func member(_ name: StaticString, _ events: [AppearanceEvent]) {
        array(name, events) { writer, event in
            writer.object { $0.members(of: event) }
        }
    }

    mutating func members(of event: AppearanceEvent) {
        member("controller", event.controller)
        member("event", event.change.rawValue)
    }
}
