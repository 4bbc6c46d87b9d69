internal import ArbiterEngine
package import Dispatch

/// Writes lines on a queue of its own, so that a log that is not read blocks nothing else.
///
/// Lines for which there is no room are dropped and counted.
package final class LogQueue: Sendable {
    /// The most bytes that may wait to be written.
    package static let waitingBytes = 1 << 20

    private let write: @Sendable ([UInt8]) -> Void
    private let noteLoss: @Sendable (Int) -> [UInt8]
    private let queue = DispatchQueue(label: "arbiter.log", qos: .utility)
    private let state = Guarded(State())

    private struct State {
        var lines: [[UInt8]] = []
        var byteCount = 0
        var leftOut = 0
        var isWriting = false
    }

    /// - Parameters:
    ///   - write: writes bytes; it may block.
    ///   - noteLoss: makes the line that says how many lines were dropped.
    package init(write: @escaping @Sendable ([UInt8]) -> Void, noteLoss: @escaping @Sendable (Int) -> [UInt8]) {
        self.write = write
        self.noteLoss = noteLoss
    }

    /// Appends a line to the backlog; returns at once.
    package func append(_ line: [UInt8]) {
        let isFirst = state.withLock { state in
            guard state.byteCount + line.count <= Self.waitingBytes else {
                state.leftOut += 1
                // A single line may be longer than all that may wait.
                defer { state.isWriting = true }
                return !state.isWriting
            }
            state.lines.append(line)
            state.byteCount += line.count
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if isFirst { queue.async { self.writeAll() } }
    }

    /// Waits until everything has been written, up to a limit.
    package func flush(within limit: DispatchTimeInterval = .seconds(1)) {
        let done = DispatchSemaphore(value: 0)
        queue.async { done.signal() }
        _ = done.wait(timeout: .now() + limit)
    }

    private func writeAll() {
        while true {
            let (lines, leftOut) = state.withLock { state -> ([[UInt8]], Int) in
                defer {
                    state.lines = []
                    state.leftOut = 0
                }
                // Lines may be left out while the last of those that were taken in are written.
                state.isWriting = !state.lines.isEmpty || state.leftOut > 0
                return (state.lines, state.leftOut)
            }
            guard !lines.isEmpty || leftOut > 0 else { return }
            for line in lines {
                write(line)
                state.withLock { $0.byteCount -= line.count }
            }
            if leftOut > 0 { write(noteLoss(leftOut)) }
        }
    }
}
