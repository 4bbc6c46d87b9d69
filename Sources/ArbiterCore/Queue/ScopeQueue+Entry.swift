// What the queue knows of an unfinished transition.

extension ScopeQueue {
    /// What a transition has to do with controllers that are coming.
    struct Arrivals {
        /// The ids of the controllers that it brings in.
        var brought: [ControllerID] = []
        /// The ids that it names, each once, unless it locks the whole scene and so waits for everything.
        ///
        /// A granted transition waits for none of them.
        var named: [ControllerID] = []
    }

    /// An unfinished transition.
    struct Entry {
        let id: TransitionID
        /// The controllers that its paths depend on.
        var names: [ControllerID]
        var arrivals: Arrivals
        /// The places of its parts.
        var places: [Int]
        /// The number of its parts that are not clear, and of controllers that it names and earlier ones bring in.
        ///
        /// Of one that is to get any of its parts, they count as one, which is clear if one of them is.
        var waiting: Int
        /// Whether it conflicts with exclusive ones only.
        let isShared: Bool
        /// Whether it waits for one of its parts instead of all.
        var isAny: Bool
        var isGranted = false
        /// Whether another transition has waited for it since its grant.
        var isContended = false
        /// Whether it interrupts what is in its way, if that consents.
        let interrupts: Bool
        /// Whether it consents to be interrupted.
        let yields: Bool
        /// Whether its interruption has begun.
        var isInterrupted = false
    }
}
