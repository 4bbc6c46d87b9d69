internal import ArbiterEngine

/// The bodies that come in chunks.
///
/// libmicrohttpd tells the handler of a chunk's bytes, but not of the line before them, and answers 500 when it cannot hold
/// that line. Just before it says in its log, on the thread that serves the connection, that it will, but not which
/// connection it means. That is the one of this thread on which it has read without anything coming of it.
final class ChunkedBodies: Sendable {
    private let bodies: Guarded<[ConnectionPlaces.ID: Body]> = Guarded([:])

    private struct Body {
        let record: ConnectionRecord
        let thread: UInt
        /// What had been read on the connection when something last came of it, in bytes.
        var understoodBytes: UInt64
        let refusal: @Sendable () -> [UInt8]?
    }

    /// A head is whole whose body comes in chunks.
    ///
    /// - Parameters:
    ///   - record: its connection.
    ///   - thread: the one that serves the connection.
    ///   - headBytes: the size of the head.
    ///   - refusal: makes the answer, as it is to be sent.
    func begin(
        _ record: ConnectionRecord, thread: UInt, headBytes: Int, refusal: @escaping @Sendable () -> [UInt8]?
    ) {
        let body = Body(
            record: record, thread: thread, understoodBytes: record.consumedBytes + UInt64(headBytes), refusal: refusal)
        bodies.withLock { $0[record.id] = body }
    }

    /// Bytes of a chunk have come.
    func goOn(_ record: ConnectionRecord) {
        let readBytes = record.readBytes
        bodies.withLock { $0[record.id]?.understoodBytes = readBytes }
    }

    func end(_ record: ConnectionRecord) {
        bodies.withLock { $0[record.id] = nil }
    }

    /// libmicrohttpd is about to answer 500 on this thread.
    func refuseLongestLine(onThread thread: UInt) {
        let candidates = bodies.withLock { bodies in bodies.values.filter { $0.thread == thread } }
        let lines = candidates.map { body in
            let read = body.record.readBytes
            return (body: body, bytes: read - min(read, body.understoodBytes))
        }
        guard let longest = lines.max(by: { $0.bytes < $1.bytes }), longest.bytes > ServerLimits.chunkLineBytes,
            let refusal = longest.body.refusal()
        else { return }
        longest.body.record.sayLast(refusal)
    }
}
