internal import ArbiterCore

// A change of a storyboard: `{"segues": {source: {identifier: entry or null}}, "transitionTypes": {name: entry or null},
// "defaults": {…}}`.

/// A patch of a storyboard whose members are being read, in any order.
struct StoryboardPatchDraft: Sendable {
    private(set) var patch = StoryboardPatch()

    /// - Throws: a problem that names the field.
    mutating func read(_ field: String, _ value: inout JSONReader) throws(Problem) {
        switch field {
        case "segues": try readSegues(field, &value)
        case "transitionTypes": try readTransitionTypes(field, &value)
        case "defaults": try readDefaults(field, &value)
        default: throw value.unknown(field)
        }
    }

    // MARK: - Segues

    private mutating func readSegues(_ field: String, _ value: inout JSONReader) throws(Problem) {
        try value.entries(field, upTo: Limits.segues) { name, value throws(Problem) in
            let source: ControllerID = try value.named(name)
            // The sources with what they have so far, so that the number of all segues is limited.
            let left = Limits.segues - patch.segues.count
            try value.entries(name, upTo: left) { name, value throws(Problem) in
                let identifier: SegueIdentifier = try value.named(name)
                if try value.isNull() {
                    patch.segues.append(.remove(identifier, source: source))
                } else {
                    patch.segues.append(.set(try segue(identifier, from: source, name, &value)))
                }
            }
        }
    }

    private func segue(
        _ identifier: SegueIdentifier, from source: ControllerID, _ field: String, _ value: inout JSONReader
    ) throws(Problem) -> Segue {
        var kind: Segue.Kind?
        var destination: Hierarchy?
        try value.openObject(field)
        var seen = MemberNames()
        while let member = try value.nextMember(&seen) {
            switch member {
            case "kind": kind = try value.word(member)
            // The scene's storyboard as a whole has a limit, which is checked when it is changed.
            case "destination": destination = try value.hierarchy(member, upTo: Limits.controllers)
            default: throw value.unknown(member)
            }
        }
        guard let kind else { throw value.missing("kind") }
        guard let destination else { throw value.missing("destination") }
        value.leave()
        return Segue(identifier: identifier, source: source, kind: kind, destination: destination)
    }

    // MARK: - Transition types and defaults

    private mutating func readTransitionTypes(_ field: String, _ value: inout JSONReader) throws(Problem) {
        try value.entries(field, upTo: Limits.transitionTypes) { name, value throws(Problem) in
            let type: TransitionTypeName = try value.named(name)
            if try value.isNull() {
                patch.transitionTypes.append(.remove(type))
                return
            }
            var duration: Duration?
            var curve: AnimationCurve?
            try value.object(name) { member, value throws(Problem) in
                switch member {
                case "duration": duration = try value.seconds(member, in: Limits.animationDurations)
                case "curve": curve = try value.word(member)
                default: throw value.unknown(member)
                }
            }
            patch.transitionTypes.append(.set(TransitionType(name: type, duration: duration, curve: curve)))
        }
    }

    /// `null` stands for the value that applies where nothing is declared.
    private mutating func readDefaults(_ field: String, _ value: inout JSONReader) throws(Problem) {
        let standard = Storyboard.Defaults()
        if try value.isNull() {
            patch.defaults = StoryboardPatch.DefaultsChange(
                duration: standard.duration, curve: standard.curve, type: .some(nil), lease: standard.lease,
                scope: standard.scope,
                priority: standard.priority, interruptibility: .never)
            return
        }
        try value.object(field) { member, value throws(Problem) in
            switch member {
            case "duration":
                patch.defaults.duration =
                    try value.isNull()
                    ? standard.duration : try value.seconds(member, in: Limits.animationDurations)
            case "curve": patch.defaults.curve = try value.isNull() ? standard.curve : try value.word(member)
            case "type": patch.defaults.type = try value.isNull() ? .some(nil) : .some(try value.name(member))
            case "leaseSeconds":
                patch.defaults.lease =
                    try value.isNull() ? standard.lease : try value.seconds(member, in: Limits.leaseDurations)
            case "scope": patch.defaults.scope = try value.isNull() ? standard.scope : try value.word(member)
            case "priority":
                patch.defaults.priority = try value.isNull() ? standard.priority : try value.priority(member)
            case "interruptible":
                patch.defaults.interruptibility = try value.isNull() ? .never : try value.interruptibility(member)
            default: throw value.unknown(member)
            }
        }
    }
}

extension JSONReader {
    /// Reads an object whose members are entries by name.
    ///
    /// - Throws: `invalid-field` if the value is not an object, or if it has too many members; and what `entry` throws.
    fileprivate mutating func entries(
        _ field: String, upTo limit: Int, _ entry: (String, inout JSONReader) throws(Problem) -> Void
    ) throws(Problem) {
        try openObject(field)
        var seen = MemberNames()
        while let name = try nextMember(&seen) {
            guard seen.count <= limit else {
                leave()
                throw invalid(field, "may have \(limit) members at most")
            }
            try entry(name, &self)
        }
        leave()
    }

    /// The name that a member has; the value has not been read yet.
    fileprivate func named<Name: CheckedName>(_ member: String) throws(Problem) -> Name {
        guard let name = Name(member) else {
            throw invalid(member, "must be \(Name.kind), \(Name.rule)")
        }
        return name
    }
}

// MARK: - Writing

extension JSONWriter {
    /// The members of the document that makes the change; an entry that is removed is `null`.
    mutating func members(of patch: StoryboardPatch) {
        object("segues") { writer in
            var sources: [ControllerID] = []
            for change in patch.segues where !sources.contains(change.source) { sources.append(change.source) }
            for source in sources {
                writer.member(named: source.description) { writer in
                    writer.object { writer in
                        for change in patch.segues where change.source == source { writer.member(of: change) }
                    }
                }
            }
        }
        object("transitionTypes") { writer in
            for change in patch.transitionTypes { writer.member(of: change) }
        }
        object("defaults") { writer in
            if let duration = patch.defaults.duration { writer.member("duration", exactly: duration) }
            if let curve = patch.defaults.curve { writer.member("curve", curve.rawValue) }
            if let type = patch.defaults.type {
                if let type {
                    writer.member("type", type.description)
                } else {
                    writer.member(named: "type") { $0.null() }
                }
            }
            if let lease = patch.defaults.lease { writer.member("leaseSeconds", exactly: lease) }
            if let scope = patch.defaults.scope { writer.member("scope", scope.rawValue) }
            if let priority = patch.defaults.priority { writer.member("priority", priority.value) }
            if let interruptibility = patch.defaults.interruptibility {
                writer.member("interruptible", interruptibility)
            }
        }
    }

    private mutating func member(of change: StoryboardPatch.SegueChange) {
        switch change {
        case .set(let segue):
            member(named: segue.identifier.description) { writer in
                writer.object { writer in
                    writer.member("kind", segue.kind.rawValue)
                    writer.member("destination", segue.destination)
                }
            }
        case .remove(let identifier, _): member(named: identifier.description) { $0.null() }
        }
    }

    private mutating func member(of change: StoryboardPatch.TransitionTypeChange) {
        switch change {
        case .set(let type):
            member(named: type.name.description) { writer in
                writer.object { writer in
                    if let duration = type.duration { writer.member("duration", exactly: duration) }
                    if let curve = type.curve { writer.member("curve", curve.rawValue) }
                }
            }
        case .remove(let name): member(named: name.description) { $0.null() }
        }
    }
}
