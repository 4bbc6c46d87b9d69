internal import ArbiterClient
internal import ArgumentParser

/// A command that asks the daemon, and fails in the same ways as all others.
protocol ClientCommand: AsyncParsableCommand {
    var connection: Connection { get }

    func run(_ arbiter: Arbiter) async throws
}

extension ClientCommand {
    func run() async throws {
        let arbiter = try connection.makeArbiter()
        do {
            try await run(arbiter)
        } catch let error as ClientError {
            Exit.tell("\(error)")
            throw ExitCode(Exit.code(of: error))
        }
    }
}

extension Exit {
    /// The exit code for what the daemon or the way to it says.
    static func code(of error: ClientError) -> Int32 {
        switch error {
        case .timedOut: timedOut
        case .ended: lost
        // It has ended without its owner.
        case .refused(let refusal) where refusal.status == 410: lost
        case .refused, .unreachable, .closed: failed
        }
    }
}
