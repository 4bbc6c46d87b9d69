internal import ArbiterCore
package import ArbiterEngine
package import Logging

/// Writes each log entry as a line: time, level, label, message, and then its metadata as `key=value`.
///
/// A value that is not a single word is quoted, so that no value can imitate further ones.
package struct TextLogHandler: LogHandler {
    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?

    private let label: String
    private let time: any TimeSource
    private let output: @Sendable ([UInt8]) -> Void
    private let hasPriorities: Bool

    /// A handler that passes each line, with its line feed, to the output.
    ///
    /// - Parameters:
    ///   - label: the name of the logger.
    ///   - logLevel: the least severe level that is written.
    ///   - hasPriorities: whether each line begins with its priority, as journald reads it.
    ///   - time: the clock.
    ///   - output: gets each line.
    package init(
        label: String, logLevel: Logger.Level, hasPriorities: Bool = false, time: any TimeSource = SystemTimeSource(),
        output: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.label = label
        self.logLevel = logLevel
        self.time = time
        self.hasPriorities = hasPriorities
        self.output = output
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let provided = metadataProvider?.get() ?? [:]
        let all = metadata.merging(provided) { $1 }.merging(event.metadata ?? [:]) { $1 }
        var writer = JSONWriter()
        writer.timestamp(time.now().timestamp)
        let timestamp = String(decoding: writer.bytes, as: UTF8.self)
        var parts = [timestamp, event.level.rawValue, "\(label):", event.message.description]
        for (key, value) in all.sorted(by: { $0.key < $1.key }) {
            parts.append("\(key)=\(Self.word(value.description))")
        }
        if let error = event.error { parts.append("error=\(Self.word(String(describing: error)))") }
        let line = Array((parts.joined(separator: " ") + "\n").utf8)
        output(hasPriorities ? event.level.priority + line : line)
    }

    /// A value as a single word, quoted if necessary.
    private static func word(_ value: String) -> String {
        let isWord = !value.isEmpty && value.allSatisfy { !$0.isWhitespace && $0 != "\"" && $0 != "=" && $0 != "\\" }
        guard !isWord else { return value }
        let escaped = value.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] }
        return "\"\(String(escaped))\""
    }
}
