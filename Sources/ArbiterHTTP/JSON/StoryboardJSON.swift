package import ArbiterCore

// A storyboard as a document: `{"root": …, "segues": […], "transitionTypes": […], "defaults": {…}}`.

extension Storyboard {
    /// Reads a document; every member is optional.
    ///
    /// - Throws: a problem that names the field.
    package init(json: [UInt8]) throws(Problem) {
        var draft = StoryboardDraft()
        try JSONReader.readObject(json) { field, reader throws(Problem) in try draft.read(field, &reader) }
        self = try draft.storyboard()
    }

    /// The document that would declare the current storyboard, with all defaults written out.
    package var json: [UInt8] {
        JSONWriter.object { $0.members(of: self) }
    }

    /// The same document, with a line feed.
    var document: JSONDocument {
        JSONDocument(
            [.brief { $0.beginObject() }] + parts + [
                .brief { writer in
                    writer.endObject()
                    writer.endLine()
                }
            ], keeping: byteCount)
    }

    /// The members of the document.
    fileprivate var parts: [JSONDocument.Part] {
        var parts: [JSONDocument.Part] = [
            .hierarchy(HierarchyWriter(hierarchy, named: "root")),
            .brief { writer in
                writer.begin("segues")
                writer.beginArray()
            },
        ]
        for segue in segues { parts += segue.parts }
        parts.append(.brief { $0.endArray() })
        parts += JSONDocument.Part.array("transitionTypes", transitionTypes) { writer, type in
            writer.object { $0.members(of: type) }
        }
        parts.append(.brief { [defaults] writer in writer.object("defaults") { $0.members(of: defaults) } })
        return parts
    }
}

extension Segue {
    /// The segue as an element of an array.
    fileprivate var parts: [JSONDocument.Part] {
        [
            .brief { writer in
                writer.beginElement()
                writer.beginObject()
                writer.member("identifier", identifier.description)
                writer.member("source", source)
                writer.member("kind", kind.rawValue)
            },
            .hierarchy(HierarchyWriter(destination, named: "destination")),
            .brief { $0.endObject() },
        ]
    }
}

/// A storyboard whose members are being read, in any order.
struct StoryboardDraft: Sendable {
    private var hierarchy = Hierarchy()
    private var segues: [Segue] = []
    private var transitionTypes: [TransitionType] = []
    private var defaults = Storyboard.Defaults()
    /// The number of controllers that the remaining destinations may have together.
    private var remainingDestinations = Limits.controllers

    /// - Throws: a problem that names the field.
    mutating func read(_ field: String, _ value: inout JSONReader) throws(Problem) {
        switch field {
        case "root": hierarchy = try value.hierarchy(field)
        case "segues":
            try value.array(field, upTo: Limits.segues) { element, value throws(Problem) in
                segues.append(try segue(element, &value))
            }
        case "transitionTypes":
            try value.array(field, upTo: Limits.transitionTypes) { element, value throws(Problem) in
                transitionTypes.append(try value.transitionType(element))
            }
        case "defaults": try readDefaults(field, &value)
        default: throw value.unknown(field)
        }
    }

    /// - Throws: `invalid-field` if the members contradict one another, `unknown-transition-type` if a controller
    ///   refers to a type that is not declared.
    func storyboard() throws(Problem) -> Storyboard {
        do throws(StoryboardFault) {
            return try Storyboard(
                hierarchy: hierarchy, segues: segues, transitionTypes: transitionTypes, defaults: defaults)
        } catch {
            throw Problem(fault: error, field: field(of: error))
        }
    }

    /// The field of a repeated entry.
    private func field(of fault: StoryboardFault) -> String? {
        switch fault {
        case .duplicateSegue(let identifier, let source):
            segues.lastIndex { $0.identifier == identifier && $0.source == source }
                .map { "segues[\($0)].identifier" }
        case .duplicateTransitionType(let name):
            transitionTypes.lastIndex { $0.name == name }.map { "transitionTypes[\($0)].name" }
        case .tooManySegues, .tooManyTransitionTypes, .tooManyDestinations, .unknownTransitionType, .unknownDefaultType:
            nil
        }
    }

    private mutating func segue(_ field: String, _ value: inout JSONReader) throws(Problem) -> Segue {
        var identifier: SegueIdentifier?
        var source: ControllerID?
        var kind: Segue.Kind?
        var destination: Hierarchy?
        try value.openObject(field)
        var seen = MemberNames()
        while let member = try value.nextMember(&seen) {
            switch member {
            case "identifier": identifier = try value.name(member)
            case "source": source = try value.name(member)
            case "kind": kind = try value.word(member)
            case "destination": destination = try self.destination(member, &value)
            default: throw value.unknown(member)
            }
        }
        guard let identifier else { throw value.missing("identifier") }
        guard let source else { throw value.missing("source") }
        guard let kind else { throw value.missing("kind") }
        guard let destination else { throw value.missing("destination") }
        value.leave()
        return Segue(identifier: identifier, source: source, kind: kind, destination: destination)
    }

    private mutating func destination(_ field: String, _ value: inout JSONReader) throws(Problem) -> Hierarchy {
        let hierarchy = try value.hierarchy(field, upTo: remainingDestinations)
        remainingDestinations -= hierarchy.count
        return hierarchy
    }

    private mutating func readDefaults(_ field: String, _ value: inout JSONReader) throws(Problem) {
        try value.object(field) { field, value throws(Problem) in
            switch field {
            case "duration": defaults.duration = try value.seconds(field, in: Limits.animationDurations)
            case "curve": defaults.curve = try value.word(field)
            case "type": defaults.type = try value.name(field)
            case "leaseSeconds": defaults.lease = try value.seconds(field, in: Limits.leaseDurations)
            case "scope": defaults.scope = try value.word(field)
            case "priority": defaults.priority = try value.priority(field)
            case "interruptible": defaults.consent = try value.interruptibility(field).consent
            default: throw value.unknown(field)
            }
        }
    }
}

extension JSONReader {
    fileprivate mutating func transitionType(_ field: String) throws(Problem) -> TransitionType {
        var name: TransitionTypeName?
        var duration: Duration?
        var curve: AnimationCurve?
        try openObject(field)
        var seen = MemberNames()
        while let member = try nextMember(&seen) {
            switch member {
            case "name": name = try self.name(member)
            case "duration": duration = try seconds(member, in: Limits.animationDurations)
            case "curve": curve = try word(member)
            default: throw unknown(member)
            }
        }
        guard let name else { throw missing("name") }
        leave()
        return TransitionType(name: name, duration: duration, curve: curve)
    }
}

extension Problem {
    /// Why a storyboard is invalid.
    ///
    /// - Parameters:
    ///   - fault: what is wrong with it.
    ///   - field: the entry that repeats another one, if that is the fault.
    init(fault: StoryboardFault, field: String? = nil) {
        switch fault {
        case .tooManySegues: self = .invalid("segues", "may have \(Limits.segues) elements at most")
        case .tooManyTransitionTypes:
            self = .invalid("transitionTypes", "may have \(Limits.transitionTypes) elements at most")
        case .tooManyDestinations:
            self = .invalid("segues", "may have \(Limits.controllers) controllers in all destinations at most")
        case .duplicateSegue(let identifier, let source):
            self = .invalid(
                field ?? "segues",
                "repeats the identifier \(quoted(identifier.description)) of another segue from "
                    + "\(quoted(source.description))")
        case .duplicateTransitionType(let name):
            self = .invalid(
                field ?? "transitionTypes", "repeats the name \(quoted(name.description)) of another transition type")
        case .unknownTransitionType(let name):
            self.init(
                .unknownTransitionType,
                "A controller comes in by \(quoted(name.description)), which is not among the transition types.",
                field: "transitionTypes")
        case .unknownDefaultType(let name):
            self.init(
                .unknownTransitionType, "The default \(quoted(name.description)) is not among the transition types.",
                field: "defaults.type")
        }
    }
}

// MARK: - Writing

extension JSONWriter {
    /// The members of a storyboard's document.
    mutating func members(of storyboard: Storyboard) {
        write(storyboard.parts)
    }

    fileprivate mutating func members(of type: TransitionType) {
        member("name", type.name.description)
        if let duration = type.duration { member("duration", exactly: duration) }
        if let curve = type.curve { member("curve", curve.rawValue) }
    }

    fileprivate mutating func members(of defaults: Storyboard.Defaults) {
        member("duration", exactly: defaults.duration)
        member("curve", defaults.curve.rawValue)
        if let type = defaults.type { member("type", type.description) }
        member("leaseSeconds", exactly: defaults.lease)
        member("scope", defaults.scope.rawValue)
        if defaults.priority != .standard { member("priority", defaults.priority.value) }
        if let consent = defaults.consent { member("interruptible", .allowed(consent)) }
    }
}
