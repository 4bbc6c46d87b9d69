internal import CLinux
internal import Logging

extension Logger.Level {
    /// What a line begins with so that journald knows its priority (sd-daemon(3)).
    var priority: [UInt8] {
        let number =
            switch self {
            case .trace, .debug: 7
            case .info: 6
            case .notice: 5
            case .warning: 4
            case .error: 3
            case .critical: 2
            }
        return Array("<\(number)>".utf8)
    }
}

/// The stream that systemd connects the standard error of a service to.
package enum JournalStream {
    /// Whether what is written to a descriptor goes to journald.
    ///
    /// - Parameters:
    ///   - descriptor: the descriptor.
    ///   - name: the variable `JOURNAL_STREAM`: the device and the inode of the stream, with a colon between them.
    /// - Returns: false also if the output has been redirected since (systemd.exec(5)).
    package static func receives(_ descriptor: Int32, named name: String?) -> Bool {
        var file = arbiter_file()
        guard let name, unsafe arbiter_file_of(descriptor, &file) == 1 else { return false }
        return name == "\(file.device):\(file.inode)"
    }
}
