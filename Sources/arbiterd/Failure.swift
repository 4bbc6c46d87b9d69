internal import ArbiterEngine
internal import ArbiterHTTP
internal import ArgumentParser
internal import Glibc

/// Why the daemon exits: a line for its log, and an exit code from `sysexits.h`.
struct Failure: Error {
    private let code: Int32
    /// One sentence that a person can act on.
    let reason: String
    /// True for the output of --help or --version, which is not a failure.
    private let isAnswer: Bool

    init(_ code: Int32, _ reason: String, isAnswer: Bool = false) {
        self.code = code
        self.reason = reason
        self.isAnswer = isAnswer
    }

    init(_ error: any Error, parsing command: any ParsableCommand.Type) {
        switch error {
        case let failure as Failure:
            self = failure
        case let error as ListenError:
            self.init(error.code, error.reason)
        case let error as JournalError:
            self.init(error.code, error.reason)
        case let error as ServerError:
            self.init(EX_OSERR, error.reason)
        default:
            let code = command.exitCode(for: error).rawValue
            if code == EX_OK {
                self.init(code, command.fullMessage(for: error), isAnswer: true)
            } else {
                self.init(code, command.message(for: error) + " (see --help)")
            }
        }
    }

    /// Prints the line and ends the process.
    func exit() -> Never {
        Output.writeLine(isAnswer ? reason : "arbiterd: \(reason)", to: isAnswer ? STDOUT_FILENO : STDERR_FILENO)
        Glibc.exit(code)
    }
}

extension JournalError {
    fileprivate var code: Int32 {
        switch kind {
        case .inUse, .notOwner: EX_UNAVAILABLE
        case .damaged: EX_DATAERR
        case .unknownForm: EX_CONFIG
        case .inaccessible, .vanished, .closed, .stalled, .refused: EX_IOERR
        }
    }
}

extension ListenError {
    fileprivate var code: Int32 {
        switch kind {
        case .unknownHost: EX_NOHOST
        case .notLoopback, .unknownGroup, .notASocket: EX_CONFIG
        case .notPermitted: EX_NOPERM
        case .unavailable: EX_UNAVAILABLE
        }
    }
}
