internal import Foundation
internal import Glibc

/// A process from one of the package's executables; it is killed on `deinit` if it still runs.
///
/// Its output can be read line by line, with a deadline. Its standard error goes to a file, so that it never blocks.
package final class ChildProcess {
    package let identifier: Int32
    private let input: Int32
    private let output: Int32
    private let errors: Int32
    private var unread: [UInt8] = []
    private var status: Termination?

    /// The longest time that a process may take to start, to answer or to end: also where two dozen want two processors.
    package static let patience = Duration.seconds(60)

    /// Starts an executable.
    ///
    /// - Parameters:
    ///   - executable: its name; or its path, if it is not of the same build.
    ///   - arguments: its arguments.
    ///   - environment: variables to add.
    ///   - listening: a socket that it gets as from a service manager (sd_listen_fds(3)).
    /// - Throws: `ChildProcessError.notStarted`.
    package init(
        _ executable: String, _ arguments: [String], environment: [String: String] = [:], listening: Int32? = nil
    ) throws(ChildProcessError) {
        let (input, inputEnd) = Self.stream()
        let (output, outputEnd) = Self.stream()
        errors = Self.temporaryFile()
        defer {
            close(inputEnd)
            close(outputEnd)
        }
        self.input = input
        self.output = output
        let path = executable.hasPrefix("/") ? executable : BuildProducts.path(of: executable)
        if let listening {
            // LISTEN_PID has to be the process itself, which a shell that becomes it knows.
            let script = "export LISTEN_FDS=1 LISTEN_PID=$$; exec \"$0\" \"$@\""
            identifier = try spawn(
                "/bin/sh", ["-c", script, path] + arguments, environment: environment,
                descriptors: [inputEnd, outputEnd, errors, listening])
        } else {
            identifier = try spawn(
                path, arguments, environment: environment, descriptors: [inputEnd, outputEnd, errors])
        }
    }

    deinit {
        if status == nil {
            kill(identifier, SIGKILL)
            reap()
        }
        for descriptor in [input, output, errors] { close(descriptor) }
    }

    package func signal(_ signal: Int32) {
        guard status == nil else { return }
        kill(identifier, signal)
    }

    /// Waits until the process has ended.
    ///
    /// - Throws: `ChildProcessError.timedOut` if it has not ended in time.
    @discardableResult
    package func waitForExit(within limit: Duration = patience) throws(ChildProcessError) -> Termination {
        if let status { return status }
        // Only the process still holds the other end, so the stream ends with it.
        let deadline = Deadline(after: limit)
        while try readMore(by: deadline, waitingFor: "its end") {}
        return reap()
    }

    @discardableResult
    private func reap() -> Termination {
        var raw: Int32 = 0
        while unsafe waitpid(identifier, &raw, 0) < 0, errno == EINTR {}
        let ended = raw & 0x7f == 0 ? Termination.exited(raw >> 8 & 0xff) : .signalled(raw & 0x7f)
        status = ended
        return ended
    }
}

/// How a process ended.
package enum Termination: Hashable, Sendable {
    case exited(Int32)
    case signalled(Int32)
}

/// What can go wrong with a process.
package enum ChildProcessError: Error, Hashable, Sendable {
    case notStarted(String)
    case timedOut(String)
    case ended(String)
}

// MARK: - Standard streams

extension ChildProcess {
    /// Writes a line to its standard input.
    package func write(_ line: String) {
        var rest = Array((line + "\n").utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe send(input, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 || errno == EINTR else { return }
            rest = rest.dropFirst(max(0, count))
        }
    }

    /// Reads the next line of its standard output.
    ///
    /// - Throws: `ChildProcessError` if there is no further line.
    package func readLine(within limit: Duration = patience) throws(ChildProcessError) -> String {
        let deadline = Deadline(after: limit)
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread.removeFirst(end + 1) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            guard try readMore(by: deadline, waitingFor: "a line") else {
                throw .ended("\(reap()): \(standardError)")
            }
        }
    }

    /// The unread rest of its standard output, after it has ended.
    package var restOfOutput: String { String(decoding: unread, as: UTF8.self) }

    /// What it has written to its standard error so far.
    package var standardError: String {
        let size = Int(lseek(errors, 0, SEEK_CUR))
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            unsafe count = max(0, pread(errors, buffer.baseAddress, size, 0))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// - Returns: whether there was more to read.
    private func readMore(
        by deadline: Deadline, waitingFor what: String
    ) throws(ChildProcessError) -> Bool {
        guard deadline.wait(for: output, toDo: Int32(POLLIN)) else {
            throw .timedOut("\(identifier) was waited for in vain, for \(what): \(standardError)")
        }
        let room = 4096
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            unsafe count = max(0, read(output, buffer.baseAddress, room))
        }
        unread += bytes
        return !bytes.isEmpty
    }

    /// The two ends of a stream: sockets, because they can be created with close-on-exec set.
    private static func stream() -> (ours: Int32, theirs: Int32) {
        var ends: [Int32] = [-1, -1]
        let status = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends)
        precondition(status == 0, "no descriptors are left for a stream")
        return (ends[0], ends[1])
    }

    /// A file without a name, which no other process can open.
    private static func temporaryFile() -> Int32 {
        let path = NSTemporaryDirectory() + "arbiter-\(UUID())"
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        precondition(descriptor >= 0, "no temporary file can be made")
        unsafe unlink(path)
        return descriptor
    }
}
