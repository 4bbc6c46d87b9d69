internal import ArbiterClient
internal import ArgumentParser
internal import Foundation

/// Whether an answer is written for people or for programs.
struct JSONOutput: ParsableArguments {
    @Flag(name: .customLong("json"), help: "Write JSON.")
    var isWanted = false
}

extension JSONValue {
    /// The value as JSON, its members in the order of their names; on one line, or indented.
    func text(isIndented: Bool = false) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isIndented { encoder.outputFormatting.insert(.prettyPrinted) }
        guard let bytes = try? encoder.encode(self) else { preconditionFailure("every JSON value can be written") }
        return String(decoding: bytes, as: UTF8.self)
    }
}
