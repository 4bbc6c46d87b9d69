internal import Foundation

/// The variables of the environment.
enum Environment {
    /// A variable; one that is empty counts as unset.
    static func variable(_ name: String) -> String? {
        guard let text = ProcessInfo.processInfo.environment[name], !text.isEmpty else { return nil }
        return text
    }
}
