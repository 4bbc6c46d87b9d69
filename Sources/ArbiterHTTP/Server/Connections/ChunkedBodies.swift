internal import ArbiterEngine

/// The bodies that are being received in chunks.
///
/// libmicrohttpd passes on the bytes of a chunk, but not the line before it. If that line is too long for its memory,
/// it answers 500. Just before, it writes a line to its log, on the thread that serves the connection, but without
/// naming the connection. It is the connection of that thread which has read the most bytes since libmicrohttpd last
/// passed any on.
final class ChunkedBodies: Sendable {
    private let bodies: Guarded<[ConnectionPlaces.ID: Body]> = Guarded([:])

    private struct Body {
        let record: ConnectionRecord
        let thread: UInt
        /// How much had been read on the connection when libmicrohttpd last passed bytes on.
        var understoodBytes: UInt64
        let refusal: @Sendable () -> [UInt8]?
    }

    /// A head is complete, and its body is chunked.
    ///
    /// - Parameters:
    ///   - record: its connection.
    ///   - thread: the thread that serves the connection.
    ///   - headBytes: the size of the head.
    ///   - refusal: makes the bytes of the refusal.
    func begin(
        _ record: ConnectionRecord, thread: UInt, headBytes: Int, refusal: @escaping @Sendable () -> [UInt8]?
    ) {
        let body = Body(
            record: record, thread: thread, understoodBytes: record.consumedBytes + UInt64(headBytes), refusal: refusal)
        bodies.withLock { $0[record.id] = body }
    }

    /// Bytes of a chunk have been passed on.
    func goOn(_ record: ConnectionRecord) {
        let readBytes = record.readBytes
        bodies.withLock { $0[record.id]?.understoodBytes = readBytes }
    }

    func end(_ record: ConnectionRecord) {
        bodies.withLock { $0[record.id] = nil }
    }

    /// libmicrohttpd is about to answer 500 on this thread; the connection with the longest unexplained line gets 400.
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
