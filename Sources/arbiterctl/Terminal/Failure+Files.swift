internal import Foundation

extension Failure {
    /// A file cannot be used.
    init(file path: String, _ reason: String) {
        self.init(code: Exit.misused, text: "\(path == "-" ? "standard input" : path): \(reason)")
    }

    /// The system refuses to use a file.
    init(file path: String, system number: Int32) {
        self.init(file: path, unsafe String(cString: strerror(number)))
    }

    /// Standard output cannot be written.
    init(output number: Int32) {
        self.init(code: Exit.failed, text: "standard output: \(unsafe String(cString: strerror(number)))")
    }

    /// The system refuses to use a file, as Foundation says it.
    private init(file path: String, _ error: any Error) {
        let causes = [error, (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error]
        if let number = causes.lazy.compactMap({ ($0 as? POSIXError)?.code.rawValue }).first {
            self.init(file: path, system: number)
        } else {
            self.init(file: path, error.localizedDescription)
        }
    }

    /// The bytes of a file, which may be a pipe; of standard input, if it is `-`.
    ///
    /// - Throws: `Failure` with the file and the reason.
    static func reading(_ path: String) throws(Failure) -> Data {
        // FileHandle does not say why a file cannot be read, and Data refuses pipes.
        let descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(file: path, system: errno) }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var bytes = Data()
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe part.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure(file: path, system: errno) }
            guard count > 0 else { return bytes }
            bytes.append(contentsOf: part.prefix(count))
        }
    }

    /// Writes a file.
    ///
    /// - Throws: `Failure` with the file and the reason.
    static func writing<Result>(_ path: String, _ body: () throws -> Result) throws(Failure) -> Result {
        do {
            return try body()
        } catch {
            throw Failure(file: path, error)
        }
    }
}
