internal import Glibc

/// A head that was checked, as it lies in libmicrohttpd's memory, with what was found out about it.
///
/// `@unchecked`: it belongs to the thread that serves the connection, but for `request`.
final class KnownHead: @unchecked Sendable {
    private let bytes: [UInt8]
    private let target: RequestTarget
    let head: MicroHTTPDHead
    let fields: MicroHTTPDFields
    /// What the router has found out about requests with this head.
    let request = KnownRequest()

    init(_ bytes: UnsafeRawBufferPointer, _ target: RequestTarget, _ head: MicroHTTPDHead, _ fields: MicroHTTPDFields) {
        unsafe self.bytes = Array(bytes)
        self.target = target
        self.head = head
        self.fields = MicroHTTPDFields(copying: fields)
    }

    /// Whether it is this head; the query is compared too, because it is hidden from libmicrohttpd.
    func isSame(_ bytes: UnsafeRawBufferPointer, _ target: RequestTarget) -> Bool {
        guard bytes.count == self.bytes.count, target == self.target else { return false }
        return unsafe self.bytes.withUnsafeBytes { known in
            guard let known = known.baseAddress, let start = bytes.baseAddress else { return false }
            return unsafe memcmp(known, start, bytes.count) == 0
        }
    }
}

/// The heads that came last on a connection.
///
/// A later request with the same bytes has the same verdict.
struct KnownHeads {
    /// A client that starts and ends transitions has two.
    private static let most = 2
    /// A longer head is not kept, in bytes.
    private static let longest = 1024

    private var heads: [KnownHead] = []

    func find(_ bytes: UnsafeRawBufferPointer, _ target: RequestTarget) -> KnownHead? {
        heads.first { unsafe $0.isSame(bytes, target) }
    }

    /// Keeps a head in the place of the one that was kept first; not one with a fault, or whose body has no length.
    ///
    /// - Returns: the head, if it is kept.
    mutating func keep(
        _ bytes: UnsafeRawBufferPointer, _ target: RequestTarget, _ head: MicroHTTPDHead, _ fields: MicroHTTPDFields
    ) -> KnownHead? {
        guard bytes.count <= Self.longest, head.ambiguity == nil, !head.isChunked else { return nil }
        let known = unsafe KnownHead(bytes, target, head, fields)
        if heads.count == Self.most { heads.removeFirst() }
        heads.append(known)
        return known
    }
}
