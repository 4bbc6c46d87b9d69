internal import CMicroHTTPD
internal import Glibc

/// The header fields of a connection's current request, where they lie in libmicrohttpd's memory.
///
/// They are read once for each request, in the pass that checks its head. `@unchecked`: they belong to the thread that serves
/// the connection.
@safe final class MicroHTTPDFields: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<arbiter_MHD_Fields>
    private let fields: UnsafeMutablePointer<arbiter_MHD_Field>

    init() {
        let names = unsafe Names.all.names
        unsafe fields = .allocate(capacity: names.count)
        unsafe fields.initialize(repeating: arbiter_MHD_Field(), count: names.count)
        unsafe pointer = .allocate(capacity: 1)
        unsafe pointer.initialize(
            to: arbiter_MHD_Fields(names: names.baseAddress, count: names.count, fields: fields, base: nil))
    }

    /// The same places of values, for another request with the same head.
    convenience init(copying other: MicroHTTPDFields) {
        self.init()
        let count = unsafe pointer.pointee.count
        unsafe fields.update(from: other.fields, count: count)
    }

    /// The request has come again, and begins here in memory.
    func rebase(_ start: UnsafePointer<CChar>?) { unsafe pointer.pointee.base = start }

    deinit {
        unsafe pointer.deallocate()
        unsafe fields.deallocate()
    }

    /// Reads what has come of a request that is not whole.
    func read(_ connection: OpaquePointer) { unsafe arbiter_MHD_read_known_fields(connection, pointer) }

    /// How many lines a field has.
    func lines(of name: HeaderName) -> Int { unsafe Int(fields[Int(name.rawValue)].lines) }

    /// The value of the first line of a field, with NUL behind it; `nil` if there is none.
    func first(_ name: HeaderName) -> UnsafeRawBufferPointer? {
        let field = unsafe fields[Int(name.rawValue)]
        guard field.lines > 0, let base = unsafe pointer.pointee.base else { return nil }
        return unsafe UnsafeRawBufferPointer(start: base + Int(field.start), count: Int(field.size))
    }

    /// The names in the order of their raw values, as C texts; they are never freed.
    @safe private final class Names: Sendable {
        static let all = Names()

        nonisolated(unsafe) let names: UnsafeBufferPointer<arbiter_MHD_Name>

        private init() {
            unsafe names = UnsafeBufferPointer(
                UnsafeMutableBufferPointer<arbiter_MHD_Name>.allocate(capacity: HeaderName.allCases.count)
                    .initialized(
                        with: HeaderName.allCases.map { name in
                            unsafe arbiter_MHD_Name(text: strdup(name.text), size: name.text.utf8.count)
                        }))
        }
    }
}

extension UnsafeMutableBufferPointer {
    /// The same memory with these elements in it.
    fileprivate func initialized(with elements: [Element]) -> Self {
        _ = unsafe initialize(fromContentsOf: elements)
        return unsafe self
    }
}
