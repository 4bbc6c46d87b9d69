internal import ArbiterEngine
package import Dispatch

/// Writes lines on a queue of its own, so that a log that nobody reads stops nothing but itself.
///
/// Lines for which there is no room are left out, and counted.
package final class LogQueue: Sendable {
    /// Bytes that may wait to be written.
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
    ///   - write: writes bytes, and may take long.
    ///   - noteLoss: a line that says how many were left out.
    package init(write: @escaping @Sendable ([UInt8]) -> Void, noteLoss: @escaping @Sendable (Int) -> [UInt8]) {
        self.write = write
        self.noteLoss = noteLoss
    }

    /// Has a line written behind all others; returns at once.
    package func append(_ line: [UInt8]) {
        let isFirst = state.withLock { state in
            guard state.byteCount + line.count <= Self.waitingBytes else {
                state.leftOut += 1
                return false
            }
            state.lines.append(line)
            state.byteCount += line.count
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if isFirst { queue.async { self.writeAll() } }
    }

    /// Waits until everything has been written, but not for long.
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
                    state.isWriting = !state.lines.isEmpty
                }
                return (state.lines, state.leftOut)
            }
            guard !lines.isEmpty else { return }
            for line in lines {
                write(line)
                state.withLock { $0.byteCount -= line.count }
            }
            if leftOut > 0 { write(noteLoss(leftOut)) }
        }
    }
}
