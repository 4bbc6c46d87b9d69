internal import ArbiterRelay
internal import Foundation

// The messages of etcd's JSON gateway: keys and values in base64, 64-bit integers as strings, and fields that are zero or
// false left out. It understands names in camel case, and answers in snake case.

extension JSONDecoder {
    /// Reads answers of etcd.
    static func ofEtcd() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }
}

/// An integer of 64 bits, which is a string in JSON.
struct EtcdInteger: Codable, Hashable, Sendable {
    var value: Int64

    init(_ value: Int64) { self.value = value }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Int64.self) {
            self.value = value
        } else if let value = Int64(try container.decode(String.self)) {
            self.value = value
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no integer")
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(String(value))
    }
}

struct EtcdHeader: Decodable, Sendable {
    let revision: EtcdInteger?
}

struct EtcdTransactionMessage: Encodable, Sendable {
    let compare: [Compare]
    let success: [Operation]
    let failure: [Operation]

    init(_ transaction: EtcdTransaction) {
        compare = transaction.conditions.map(Compare.init)
        success = transaction.success.map(Operation.init)
        failure = transaction.failure.map(Operation.init)
    }

    struct Compare: Encodable, Sendable {
        let key: Data
        /// Without it, only the key itself is compared.
        var rangeEnd: Data?
        let target: String
        var result = "EQUAL"
        var createRevision: EtcdInteger?
        var modRevision: EtcdInteger?
        var value: Data?

        init(_ condition: EtcdCondition) {
            switch condition {
            case .created(let key, let revision):
                (self.key, target) = (Data(key.utf8), "CREATE")
                createRevision = EtcdInteger(revision)
            case .changed(let key, let revision):
                (self.key, target) = (Data(key.utf8), "MOD")
                modRevision = EtcdInteger(revision)
            case .holds(let key, let value):
                (self.key, target) = (Data(key.utf8), "VALUE")
                self.value = Data(value)
            case .noneCreated(let range, let revision):
                (self.key, target, result) = (Data(range.start.utf8), "CREATE", "LESS")
                rangeEnd = range.end.map { Data($0.utf8) }
                createRevision = EtcdInteger(revision + 1)
            }
        }
    }

    struct Operation: Encodable, Sendable {
        var requestPut: Put?
        var requestRange: Range?
        var requestDeleteRange: Range?
        var requestTxn: EtcdTransactionMessage?

        init(_ operation: EtcdOperation) {
            switch operation {
            case .put(let key, let value, let lease):
                requestPut = Put(key: Data(key.utf8), value: Data(value), lease: lease.map(EtcdInteger.init))
            case .read(let range): requestRange = Range(range)
            case .delete(let range): requestDeleteRange = Range(range)
            case .nested(let transaction): requestTxn = EtcdTransactionMessage(transaction)
            }
        }
    }

    struct Put: Encodable, Sendable {
        let key: Data
        let value: Data
        let lease: EtcdInteger?
    }

    struct Range: Encodable, Sendable {
        let key: Data
        let rangeEnd: Data?
        let limit: EtcdInteger?
        let keysOnly: Bool?

        init(_ range: EtcdRange) {
            key = Data(range.start.utf8)
            rangeEnd = range.end.map { Data($0.utf8) }
            limit = range.limit.map { EtcdInteger(Int64($0)) }
            keysOnly = range.keysOnly ? true : nil
        }
    }
}

struct EtcdTransactionAnswer: Decodable, Sendable {
    /// Not in the answer of a transaction within another one.
    let header: EtcdHeader?
    let succeeded: Bool?
    let responses: [Response]?

    struct Response: Decodable, Sendable {
        let responseRange: Range?
        let responseTxn: EtcdTransactionAnswer?
    }

    struct Range: Decodable, Sendable {
        let kvs: [Key]?
        let more: Bool?
    }

    struct Key: Decodable, Sendable {
        let key: Data
        let value: Data?
        let createRevision: EtcdInteger
        let modRevision: EtcdInteger
    }

    /// Whether it has the answer to each operation of a transaction.
    func isWhole(for transaction: EtcdTransaction) -> Bool {
        let operations = succeeded == true ? transaction.success : transaction.failure
        let responses = responses ?? []
        return responses.count == operations.count
            && zip(operations, responses).allSatisfy { operation, response in
                switch operation {
                case .put, .delete: true
                case .read: response.responseRange != nil
                case .nested(let transaction): response.responseTxn?.isWhole(for: transaction) == true
                }
            }
    }

    var outcome: EtcdOutcome { outcome(at: header?.revision?.value ?? 0) }

    private func outcome(at revision: EtcdRevision) -> EtcdOutcome {
        let found = (responses ?? []).compactMap(\.responseRange).map { range in
            EtcdKeys(
                (range.kvs ?? []).map { key in
                    EtcdKey(
                        name: String(decoding: key.key, as: UTF8.self), value: key.value.map { [UInt8]($0) } ?? [],
                        created: key.createRevision.value, changed: key.modRevision.value)
                }, hasMore: range.more ?? false)
        }
        let nested = (responses ?? []).compactMap { $0.responseTxn?.outcome(at: revision) }
        return EtcdOutcome(succeeded: succeeded ?? false, revision: revision, found: found, nested: nested)
    }
}

struct EtcdGrantMessage: Encodable, Sendable {
    let timeToLive: EtcdInteger

    private enum CodingKeys: String, CodingKey {
        case timeToLive = "TTL"
    }
}

struct EtcdLeaseMessage: Encodable, Sendable {
    let id: EtcdInteger

    private enum CodingKeys: String, CodingKey {
        case id = "ID"
    }
}

struct EtcdGrantAnswer: Decodable, Sendable {
    let id: EtcdInteger

    private enum CodingKeys: String, CodingKey {
        case id = "ID"
    }
}

/// The answer to a keepalive, which is one message of a stream; a lease that is over has no `TTL`.
struct EtcdKeepAliveAnswer: Decodable, Sendable {
    let result: Result?

    struct Result: Decodable, Sendable {
        let timeToLive: EtcdInteger?

        private enum CodingKeys: String, CodingKey {
            case timeToLive = "TTL"
        }
    }
}

struct EtcdWatchMessage: Encodable, Sendable {
    let createRequest: EtcdTransactionMessage.Range
}

/// A line of a watch: it has begun, keys have changed, or it has been ended by etcd.
struct EtcdWatchAnswer: Decodable, Sendable {
    let result: Result?

    struct Result: Decodable, Sendable {
        let created: Bool?
        let canceled: Bool?
        let events: [EtcdNothing]?
    }

    var isEnd: Bool { result == nil || result?.canceled == true }
    var isChange: Bool { result?.created == true || result?.events?.isEmpty == false }
}

struct EtcdCompactMessage: Encodable, Sendable {
    let revision: EtcdInteger
}

struct EtcdStatusMessage: Encodable, Sendable {}

struct EtcdStatusAnswer: Decodable, Sendable {
    let dbSize: EtcdInteger?
    let dbSizeInUse: EtcdInteger?

    var size: StoredSize { StoredSize(file: Int(dbSize?.value ?? 0), used: Int(dbSizeInUse?.value ?? 0)) }
}

struct EtcdAuthenticateMessage: Encodable, Sendable {
    let name: String
    let password: String
}

struct EtcdAuthenticateAnswer: Decodable, Sendable {
    let token: String
}

struct EtcdNothing: Decodable, Sendable {}

/// What etcd answers instead.
struct EtcdRefusal: Decodable, Sendable {
    let message: String?
    let error: String?
    /// A code of gRPC (https://grpc.io/docs/guides/status-codes/).
    let code: Int?

    /// The refusal as an error; what is not certain is unknown.
    var meaning: EtcdError {
        let reason = message ?? error ?? "etcd refuses without a reason"
        return switch code {
        // While users are changed; it passes.
        case 3 where reason.contains("auth store is old"): EtcdError(.denied, reason)
        case 3, 6, 9, 11, 12: EtcdError(.refused, reason)
        case 5: EtcdError(reason.contains("lease not found") ? .leaseNotFound : .refused, reason)
        case 7, 16: EtcdError(.denied, reason)
        // Also for too many requests, after which nothing is certain.
        case 8 where reason.contains("space exceeded"): EtcdError(.outOfSpace, reason)
        default: EtcdError(.unknown, reason)
        }
    }
}
