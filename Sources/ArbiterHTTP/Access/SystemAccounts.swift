internal import CLinux

/// Users of this machine.
package enum SystemUser {
    /// The number of a user.
    ///
    /// - Parameter name: the name, or the number as text.
    /// - Returns: `nil` if there is no such user.
    package static func number(of name: String) -> UInt32? {
        unsafe UInt32(name) ?? UInt32(exactly: arbiter_user_number(name))
    }
}

/// Groups of this machine.
package enum SystemGroup {
    /// The number of a group.
    ///
    /// - Parameter name: the name, or the number as text.
    /// - Returns: `nil` if there is no such group.
    package static func number(of name: String) -> UInt32? {
        // The largest number stands for no group.
        unsafe (UInt32(name) ?? UInt32(exactly: arbiter_group_number(name))).flatMap { $0 == .max ? nil : $0 }
    }
}
