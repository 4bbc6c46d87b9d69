internal import CLinux
internal import Dispatch
internal import Foundation

/// The signals of this process, which are passed on instead of ending it.
///
/// One that is ignored when this process begins stays so.
final class Signals {
    /// Those of a terminal's keys, which every process in its foreground gets.
    private static let ofKeys = [SIGINT, SIGQUIT]
    private static let all = [SIGHUP, SIGTERM, SIGUSR1, SIGUSR2] + ofKeys

    private let pipe: Int32
    private var source: (any DispatchSourceRead)?

    /// From now on signals are kept, until somebody takes them.
    ///
    /// - Throws: `Failure` if this process may open no more files.
    init() throws(Failure) {
        pipe = unsafe arbiter_watch_signals(Self.all, Self.all.count)
        guard pipe >= 0 else {
            throw Failure(
                code: Exit.failed, text: "there is no pipe for signals: \(unsafe String(cString: strerror(errno)))")
        }
    }

    /// - Parameter take: called with each signal, and whether the whole process group has got it from a key.
    func pass(to take: @escaping @Sendable (Int32, Bool) -> Void) {
        let source = DispatchSource.makeReadSource(fileDescriptor: pipe, queue: .global())
        self.source = source
        source.setEventHandler { [pipe] in
            var note: [UInt8] = [0, 0]
            while unsafe read(pipe, &note, note.count) == note.count {
                take(Int32(note[0]), note[1] != 0 && Self.ofKeys.contains(Int32(note[0])))
            }
        }
        source.resume()
    }
}
