/// The declared part of a scene: its hierarchy, its segues, its transition types and its defaults.
package struct Storyboard: Hashable, Sendable {
    /// The declared hierarchy, as changed by the transitions that have completed since.
    package var hierarchy: Hierarchy
    package private(set) var segues: [Segue]
    package private(set) var transitionTypes: [TransitionType]
    package var defaults: Defaults

    /// The number of controllers in the destinations of all segues.
    let declaredControllers: Int

    private let segueIndices: [Segue.Key: Int]
    private let typeIndices: [TransitionTypeName: Int]

    /// - Throws: `StoryboardFault` if two segues of one source, or two types, share a name, if there are too many, or
    ///   if the `introTransitionType` of a controller, or the default type, is not among the types.
    package init(
        hierarchy: Hierarchy = Hierarchy(), segues: [Segue] = [], transitionTypes: [TransitionType] = [],
        defaults: Defaults = Defaults()
    ) throws(StoryboardFault) {
        guard segues.count <= Limits.segues else { throw .tooManySegues }
        guard transitionTypes.count <= Limits.transitionTypes else { throw .tooManyTransitionTypes }
        var segueIndices: [Segue.Key: Int] = [:]
        for (index, segue) in segues.enumerated()
        where segueIndices.updateValue(index, forKey: segue.key) != nil {
            throw .duplicateSegue(segue.identifier, source: segue.source)
        }
        var typeIndices: [TransitionTypeName: Int] = [:]
        for (index, type) in transitionTypes.enumerated()
        where typeIndices.updateValue(index, forKey: type.name) != nil {
            throw .duplicateTransitionType(type.name)
        }
        for arrival in [hierarchy] + segues.map(\.destination) {
            if let unknown = arrival.introTransitionTypes.first(where: { typeIndices[$0] == nil }) {
                throw .unknownTransitionType(unknown)
            }
        }
        if let unknown = defaults.type, typeIndices[unknown] == nil { throw .unknownDefaultType(unknown) }
        declaredControllers = segues.reduce(0) { $0 + $1.destination.count }
        guard declaredControllers <= Limits.controllers else { throw .tooManyDestinations }
        self.hierarchy = hierarchy
        self.segues = segues
        self.transitionTypes = transitionTypes
        self.defaults = defaults
        self.segueIndices = segueIndices
        self.typeIndices = typeIndices
    }

    /// The storyboard of a scene for which nothing has been declared.
    package static let empty = Storyboard()

    private init() {
        hierarchy = Hierarchy()
        segues = []
        transitionTypes = []
        defaults = Defaults()
        declaredControllers = 0
        segueIndices = [:]
        typeIndices = [:]
    }

    package func segue(_ identifier: SegueIdentifier, from source: ControllerID) -> Segue? {
        segueIndices[Segue.Key(source: source, identifier: identifier)].map { segues[$0] }
    }

    package func transitionType(_ name: TransitionTypeName) -> TransitionType? {
        typeIndices[name].map { transitionTypes[$0] }
    }

    /// The values that apply where a request omits them.
    package struct Defaults: Hashable, Sendable {
        /// Within `Limits.animationDurations`.
        package var duration: Duration
        package var curve: AnimationCurve
        /// The type of an animation for which neither the request nor a controller names one.
        package var type: TransitionTypeName?
        /// Within `Limits.leaseDurations`.
        package var lease: Duration
        package var scope: DefaultScope
        package var priority: Priority
        package var consent: Consent?

        package init(
            duration: Duration = Limits.defaultAnimation, curve: AnimationCurve = .easeInOut,
            type: TransitionTypeName? = nil, lease: Duration = Limits.defaultLease, scope: DefaultScope = .scene,
            priority: Priority = .standard, consent: Consent? = nil
        ) {
            self.duration = duration
            self.curve = curve
            self.type = type
            self.lease = lease
            self.scope = scope
            self.priority = priority
            self.consent = consent
        }
    }

    /// The scopes that can be a default, because they name no controllers.
    package enum DefaultScope: String, Hashable, Sendable, CaseIterable {
        case scene
        case operation
    }
}

/// A named way from one controller to another: UIKit's `UIStoryboardSegue`.
package struct Segue: Hashable, Sendable {
    package let identifier: SegueIdentifier
    package let source: ControllerID
    package let kind: Kind
    /// The hierarchy to insert; for `unwind`, only the id of its root counts, and that controller exists already.
    package let destination: Hierarchy

    package init(identifier: SegueIdentifier, source: ControllerID, kind: Kind, destination: Hierarchy) {
        self.identifier = identifier
        self.source = source
        self.kind = kind
        self.destination = destination
    }

    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case show
        case showDetail
        case present
        case unwind
    }

    /// The same segue with another destination.
    func leading(to destination: Hierarchy) -> Segue {
        Segue(identifier: identifier, source: source, kind: kind, destination: destination)
    }

    struct Key: Hashable, Sendable {
        let source: ControllerID
        let identifier: SegueIdentifier
    }

    var key: Key { Key(source: source, identifier: identifier) }
}

/// An animation with a name in its scene.
package struct TransitionType: Hashable, Sendable {
    package let name: TransitionTypeName
    /// Within `Limits.animationDurations`; if `nil`, the scene's default applies.
    package let duration: Duration?
    package let curve: AnimationCurve?

    package init(name: TransitionTypeName, duration: Duration? = nil, curve: AnimationCurve? = nil) {
        self.name = name
        self.duration = duration
        self.curve = curve
    }
}

/// Why a storyboard is invalid.
package enum StoryboardFault: Error, Hashable, Sendable {
    case tooManySegues
    case tooManyTransitionTypes
    /// The destinations of all segues together have too many controllers.
    case tooManyDestinations
    case duplicateSegue(SegueIdentifier, source: ControllerID)
    case duplicateTransitionType(TransitionTypeName)
    /// The `introTransitionType` of a controller is not declared.
    case unknownTransitionType(TransitionTypeName)
    /// The type of the defaults is not declared.
    case unknownDefaultType(TransitionTypeName)
}
