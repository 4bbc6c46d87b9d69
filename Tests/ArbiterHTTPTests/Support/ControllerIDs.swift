import ArbiterCore
import ArbiterTestKit

extension ControllerID {
    /// An id that is known to be one.
    init(sound text: String) {
        guard let id = ControllerID(text) else { preconditionFailure("\(text) is no controller's id") }
        self = id
    }
}

extension Hierarchy {
    /// Nothing but a view.
    init(view id: String) throws {
        try self.init(root: ControllerID(sound: id), controllers: [Controller(id: ControllerID(sound: id))])
    }
}
