internal import ArbiterCore

/// The state of the checks within one turn of the engine.
struct Turn {
    /// The ask, until its record and answer are predicted.
    var pending: Pending?
    /// The numbers of the awaits whose wait had run out when the turn began.
    ///
    /// They are answered before the ask, and before or after any other decision that was due.
    var waking: [Int] = []
    /// The transitions of whose owners the last such await was.
    var ownersLeaving: Set<TransitionID> = []
    /// The same of the awaits of idle scenes.
    var wakingIdlers: [Int] = []
}
