internal import Glibc

/// A head that was checked, as it lies in libmicrohttpd's memory, with what was found out about it.
///
/// `@unchecked`: it belongs to the thread that serves the connection, but for `request`.
final class KnownHead: @unchecked Sendable {
    private let bytes: [UInt8]
    private let form: HeadForm
    let head: MicroHTTPDHead
    let fields: MicroHTTPDFields
    /// What the router has found out about requests with this head.
    let request = KnownRequest()

    init(_ bytes: UnsafeRawBufferPointer, _ form: HeadForm, _ head: MicroHTTPDHead, _ fields: MicroHTTPDFields) {
        unsafe self.bytes = Array(bytes)
        self.form = form
        self.head = head
        self.fields = MicroHTTPDFields(copying: fields)
    }

    /// Whether it is this head.
    func isSame(_ bytes: UnsafeRawBufferPointer, _ form: HeadForm) -> Bool {
        guard bytes.count == self.bytes.count, form == self.form else { return false }
        return unsafe self.bytes.withUnsafeBytes { known in
            guard let known = known.baseAddress, let start = bytes.baseAddress else { return false }
            return unsafe memcmp(known, start, bytes.count) == 0
        }
    }
}

/// What the bytes of a head in libmicrohttpd's memory do not say.
struct HeadForm: Hashable, Sendable {
    /// The target as it was sent: its query is hidden from libmicrohttpd, and so changed in memory.
    let target: RequestTarget
    /// How many lines libmicrohttpd has read, and the sum of their places: a NUL that was sent looks like the end of one.
    let lineCount: Int
    let lineStarts: Int
}

/// The heads that came last on a connection.
///
/// A later request with the same bytes has the same verdict.
struct KnownHeads {
    /// A client that starts and ends transitions has two.
    private static let most = 2
    /// A longer head is not kept, in bytes.
    private static let longest = 1024
    /// Fields that have another value in each request.
    private static let changing: [HeaderName] = [.idempotencyKey, .requestID, .traceParent]

    private var heads: [KnownHead] = []

    func find(_ bytes: UnsafeRawBufferPointer, _ form: HeadForm) -> KnownHead? {
        heads.first { unsafe $0.isSame(bytes, form) }
    }

    /// Keeps a head in the place of the one that was kept first.
    ///
    /// A head is not kept if it has a fault, if its body is sent in chunks, or if one of its fields differs in each request.
    ///
    /// - Returns: the head, if it is kept.
    mutating func keep(
        _ bytes: UnsafeRawBufferPointer, _ form: HeadForm, _ head: MicroHTTPDHead, _ fields: MicroHTTPDFields
    ) -> KnownHead? {
        guard bytes.count <= Self.longest, head.ambiguity == nil, !head.isChunked,
            Self.changing.allSatisfy({ fields.lines(of: $0) == 0 })
        else { return nil }
        let known = unsafe KnownHead(bytes, form, head, fields)
        if heads.count == Self.most { heads.removeFirst() }
        heads.append(known)
        return known
    }
}
