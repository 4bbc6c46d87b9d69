internal import CResources

/// The files that the daemon serves, which are inside the program.
enum Resources {
    /// Each file, by the path at which it is served, without the first "/".
    static let files: [String: [UInt8]] = {
        var files: [String: [UInt8]] = [:]
        for index in 0..<arbiter_resource_count() {
            let file = unsafe arbiter_resource_at(index)
            let bytes = unsafe UnsafeBufferPointer(start: file.bytes, count: file.count)
            unsafe files[String(cString: file.path)] = Array(bytes)
        }
        return files
    }()

    /// A file that there is.
    static func file(_ path: String) -> [UInt8] {
        guard let bytes = files[path] else { preconditionFailure("there is no file \(path) inside the program") }
        return bytes
    }
}
