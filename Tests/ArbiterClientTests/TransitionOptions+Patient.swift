import ArbiterClient

extension TransitionOptions {
    /// A lease that lasts also while the machine has something else to do.
    static let patient = patient(nil)

    static func patient(_ operation: TransitionOperation?) -> TransitionOptions {
        var options = TransitionOptions(operation)
        options.lease = .seconds(300)
        return options
    }
}
