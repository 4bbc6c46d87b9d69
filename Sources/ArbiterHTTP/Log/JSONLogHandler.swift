internal import ArbiterCore
package import ArbiterEngine
package import Logging

/// Writes each log entry as one JSON object on one line.
package struct JSONLogHandler: LogHandler {
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
        let line = JSONWriter.line { writer in
            writer.member("time", time.now().timestamp)
            writer.member("level", event.level.rawValue)
            writer.member("logger", label)
            writer.member("message", event.message.description)
            if let error = event.error { writer.member("error", String(describing: error)) }
            for (key, value) in all.sorted(by: { $0.key < $1.key }) {
                writer.member(named: key) { $0.string(value.description) }
            }
        }
        output(hasPriorities ? event.level.priority + line : line)
    }
}
