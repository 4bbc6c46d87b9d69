import ArbiterCluster
import ArbiterEngine
import ArbiterTestKit
import ArbiterTransfers
import Dispatch

/// A real etcd, and the way to it.
final class RunningEtcd {
    let process: EtcdProcess
    let loop = TransferLoop()
    let gateway: EtcdGateway

    init(_ arguments: [String] = []) throws {
        process = try EtcdProcess(arguments)
        gateway = EtcdGateway(.init(endpoints: [process.endpoint]), loop: loop)
    }

    deinit { loop.close() }

    func transact(_ transaction: EtcdTransaction) throws -> EtcdOutcome {
        try Reply.wait { gateway.transact(transaction, within: .seconds(30), completion: $0) }
    }

    /// Sends a message that only an administrator of etcd needs.
    func post(_ path: String, _ body: String) throws {
        var request = TransferRequest("\(process.endpoint)/v3/\(path)", limit: .whole(.seconds(30)))
        request.method = "POST"
        request.body = Array(body.utf8)
        let answer = try Reply.wait { loop.fetch(request, completion: $0) }
        guard answer.head.status == 200 else {
            throw EtcdError(.refused, String(decoding: answer.body, as: UTF8.self))
        }
    }
}

/// Waits for what is answered later.
enum Reply {
    static func wait<Value: Sendable, Failure: Error>(
        for ask: (@escaping @Sendable (Result<Value, Failure>) -> Void) -> Void
    ) throws -> Value {
        let semaphore = DispatchSemaphore(value: 0)
        let answer = Guarded(Result<Value, Failure>?.none)
        ask { result in
            answer.withLock { $0 = result }
            semaphore.signal()
        }
        guard semaphore.wait(timeout: .now() + .seconds(30)) == .success, let result = answer.withLock({ $0 }) else {
            throw EtcdError(.unknown, "no answer came")
        }
        return try result.get()
    }
}
