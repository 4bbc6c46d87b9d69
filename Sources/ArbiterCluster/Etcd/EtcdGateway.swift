internal import ArbiterEngine
package import ArbiterRelay
package import ArbiterTransfers
internal import Foundation

/// etcd by its JSON gateway (https://etcd.io/docs/v3.4/dev-guide/api_grpc_gateway/), over libcurl.
///
/// Every request goes to the member that answered last. After a failure, the next request goes to the next member. The
/// request that failed is not sent again here, because it may have been carried out.
package final class EtcdGateway: Etcd {
    /// How an etcd cluster is reached.
    package struct Access: Sendable {
        /// The addresses of the members, as `http://127.0.0.1:2379`.
        package var endpoints: [String]
        package var trust: TransferRequest.Trust
        package var user: User?

        package struct User: Sendable {
            package let name: String
            package let password: String

            package init(name: String, password: String) {
                (self.name, self.password) = (name, password)
            }
        }

        package init(endpoints: [String], trust: TransferRequest.Trust = .init(), user: User? = nil) {
            (self.endpoints, self.trust, self.user) = (endpoints, trust, user)
        }
    }

    private struct State {
        var trust: TransferRequest.Trust
        var user: Access.User?
        /// The member that is asked.
        var endpoint = 0
        /// The token of the user; `nil` before one was asked for.
        var token: String?
    }

    /// The addresses of the members.
    private let endpoints: [String]
    let loop: TransferLoop
    private let state: Guarded<State>

    /// The longest wait for a connection; another member is asked sooner than that one comes back.
    private static let connecting = Duration.seconds(1)

    /// - Parameters:
    ///   - access: how etcd is reached; with one endpoint at least.
    ///   - loop: where the transfers take place.
    package init(_ access: Access, loop: TransferLoop) {
        precondition(!access.endpoints.isEmpty, "etcd without an endpoint")
        (endpoints, self.loop) = (access.endpoints, loop)
        state = Guarded(State(trust: access.trust, user: access.user))
    }

    /// Reaches the same members in another way from now on; requests that are on their way go on.
    package func replace(_ trust: TransferRequest.Trust, user: Access.User?) {
        state.withLock { ($0.trust, $0.user) = (trust, user) }
    }

    package func transact(
        _ transaction: EtcdTransaction, within limit: Duration,
        completion: @escaping @Sendable (Result<EtcdOutcome, EtcdError>) -> Void
    ) {
        ask("/v3/kv/txn", EtcdTransactionMessage(transaction), within: limit) {
            (result: Result<EtcdTransactionAnswer, EtcdError>) in
            completion(
                result.flatMap { answer in
                    // What is between the nodes and etcd may answer in its place.
                    guard answer.header != nil, answer.isWhole(for: transaction) else {
                        return .failure(EtcdError(.unknown, "the answer of etcd is not that of the transaction"))
                    }
                    return .success(answer.outcome)
                })
        }
    }

    package func grantLease(
        for timeToLive: Duration, within limit: Duration,
        completion: @escaping @Sendable (Result<EtcdLeaseID, EtcdError>) -> Void
    ) {
        let message = EtcdGrantMessage(timeToLive: EtcdInteger(timeToLive.components.seconds))
        ask("/v3/lease/grant", message, within: limit) { (result: Result<EtcdGrantAnswer, EtcdError>) in
            completion(result.map(\.id.value))
        }
    }

    package func keepAlive(
        _ lease: EtcdLeaseID, within limit: Duration, completion: @escaping @Sendable (Result<Bool, EtcdError>) -> Void
    ) {
        ask("/v3/lease/keepalive", EtcdLeaseMessage(id: EtcdInteger(lease)), within: limit) {
            (result: Result<EtcdKeepAliveAnswer, EtcdError>) in
            completion(
                result.flatMap { answer in
                    guard let result = answer.result else { return .failure(EtcdError(.unknown, "no answer")) }
                    return .success((result.timeToLive?.value ?? 0) > 0)
                })
        }
    }

    package func revokeLease(
        _ lease: EtcdLeaseID, within limit: Duration, completion: @escaping @Sendable (Result<Void, EtcdError>) -> Void
    ) {
        ask("/v3/lease/revoke", EtcdLeaseMessage(id: EtcdInteger(lease)), within: limit) {
            (result: Result<EtcdNothing, EtcdError>) in
            completion(result.map { _ in })
        }
    }

    package func compact(
        to revision: EtcdRevision, within limit: Duration,
        completion: @escaping @Sendable (Result<Void, EtcdError>) -> Void
    ) {
        ask("/v3/kv/compaction", EtcdCompactMessage(revision: EtcdInteger(revision)), within: limit) {
            (result: Result<EtcdNothing, EtcdError>) in
            completion(result.map { _ in })
        }
    }

    package func measure(
        within limit: Duration, completion: @escaping @Sendable (Result<StoredSize, EtcdError>) -> Void
    ) {
        ask("/v3/maintenance/status", EtcdStatusMessage(), within: limit) {
            (result: Result<EtcdStatusAnswer, EtcdError>) in
            completion(result.map(\.size))
        }
    }
}

// MARK: - Requests

extension EtcdGateway {
    /// Sends a message with the user's token, which is asked for first if there is none.
    private func ask<Answer: Decodable & Sendable>(
        _ path: String, _ message: some Encodable & Sendable, within limit: Duration,
        completion: @escaping @Sendable (Result<Answer, EtcdError>) -> Void
    ) {
        let body: [UInt8]
        do {
            body = [UInt8](try JSONEncoder().encode(message))
        } catch {
            return completion(.failure(EtcdError(.refused, "the message cannot be encoded: \(error)")))
        }
        guard let user = state.withLock({ $0.user }) else {
            return send(path, body, within: limit, completion: completion)
        }
        guard state.withLock({ $0.token }) == nil else {
            return send(path, body, within: limit) { [self] (result: Result<Answer, EtcdError>) in
                // The token has run out, or the member was started again; nothing was carried out.
                guard case .failure(let error) = result, error.kind == .denied else { return completion(result) }
                authenticate(user, then: path, body, within: limit, completion: completion)
            }
        }
        authenticate(user, then: path, body, within: limit, completion: completion)
    }

    private func authenticate<Answer: Decodable & Sendable>(
        _ user: Access.User, then path: String, _ body: [UInt8], within limit: Duration,
        completion: @escaping @Sendable (Result<Answer, EtcdError>) -> Void
    ) {
        guard let message = try? JSONEncoder().encode(EtcdAuthenticateMessage(name: user.name, password: user.password))
        else { return completion(.failure(EtcdError(.denied, "the user's name cannot be encoded"))) }
        state.withLock { $0.token = nil }
        send("/v3/auth/authenticate", [UInt8](message), within: limit) {
            [self] (result: Result<EtcdAuthenticateAnswer, EtcdError>) in
            switch result {
            case .success(let answer):
                state.withLock { $0.token = answer.token }
                send(path, body, within: limit, completion: completion)
            // Whatever became of that, the message itself was not sent.
            case .failure(let error):
                completion(.failure(EtcdError(error.kind == .unknown ? .unreachable : .denied, error.reason)))
            }
        }
    }

    private func send<Answer: Decodable & Sendable>(
        _ path: String, _ body: [UInt8], within limit: Duration,
        completion: @escaping @Sendable (Result<Answer, EtcdError>) -> Void
    ) {
        let endpoint = currentEndpoint
        let request = request(path, body, to: endpoint, limit: .whole(limit))
        loop.fetch(request) { [self] result in
            let meaning: Result<Answer, EtcdError> = Self.meaning(of: result)
            if case .failure(let error) = meaning, error.isOfMember { askNext(after: endpoint) }
            completion(meaning)
        }
    }

    /// The member that is asked now.
    var currentEndpoint: Int { state.withLock { $0.endpoint } }

    func request(_ path: String, _ body: [UInt8], to endpoint: Int, limit: TransferRequest.Limit) -> TransferRequest {
        let (token, trust) = state.withLock { ($0.token, $0.trust) }
        var request = TransferRequest(endpoints[endpoint] + path, limit: limit)
        request.method = "POST"
        request.fields = ["Content-Type: application/json"]
        if let token { request.fields.append("Authorization: \(token)") }
        request.body = body
        request.trust = trust
        request.connecting = Self.connecting
        return request
    }

    /// Asks the next member from now on, unless another failure has led there already.
    func askNext(after endpoint: Int) {
        state.withLock { state in
            guard state.endpoint == endpoint else { return }
            state.endpoint = (endpoint + 1) % endpoints.count
        }
    }

    private static func meaning<Answer: Decodable & Sendable>(
        of result: Result<TransferAnswer, TransferFailure>
    ) -> Result<Answer, EtcdError> {
        switch result {
        case .failure(let failure): .failure(EtcdError(failure.wasSent ? .unknown : .unreachable, failure.reason))
        case .success(let answer):
            if answer.head.status == 200,
                let body = try? JSONDecoder.ofEtcd().decode(Answer.self, from: Data(answer.body))
            {
                .success(body)
            } else if let refusal = try? JSONDecoder.ofEtcd().decode(EtcdRefusal.self, from: Data(answer.body)) {
                .failure(refusal.meaning)
            } else {
                .failure(EtcdError(.unknown, "etcd answers \(answer.head.status) with what is no message of etcd"))
            }
        }
    }
}
