internal import ArbiterTransfers

/// What has arrived of a stream that another node sends, until it is read.
///
/// While much of it has not been read, the transfer is paused: then TCP makes the sender wait, and its own limits for slow
/// readers apply.
struct ArrivedStream: Sendable {
    /// How much has arrived when the transfer is paused, in bytes; it goes on when half of it is left.
    static let keptBytes = 64 << 10

    var bytes: [UInt8] = []
    /// `.end` or `.cut`; `nil` while more may arrive.
    var ending: StreamPiece?
    private var isPaused = false

    /// Pauses the transfer, or goes on with it, if that has to change.
    ///
    /// To be called under the lock of the stream, so that the loop hears of the changes in their order.
    mutating func steer(_ number: TransferLoop.Number?, in loop: TransferLoop) {
        guard let number else { return }
        if !isPaused, bytes.count > Self.keptBytes {
            isPaused = true
            loop.pause(number)
        } else if isPaused, bytes.count <= Self.keptBytes / 2 {
            isPaused = false
            loop.resume(number)
        }
    }

    /// Takes what comes next; what has arrived before a cut is dropped.
    mutating func read(upTo count: Int) -> StreamPiece {
        if ending == .cut { return .cut }
        guard !bytes.isEmpty else { return ending ?? .nothing }
        defer { bytes.removeFirst(min(count, bytes.count)) }
        return .bytes(bytes.prefix(count))
    }
}
