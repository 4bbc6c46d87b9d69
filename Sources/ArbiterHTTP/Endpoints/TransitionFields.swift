internal import ArbiterCore

// What requests about transitions may say, field by field.

/// The body of `start` and `serialize`.
struct AskedTransition: Sendable {
    var request = TransitionRequest()
    var wait = Wait()

    /// - Throws: a problem that names the field.
    init(_ call: Call, maySetWait: Bool) throws(Problem) {
        try call.readBody { field, value throws(Problem) in
            switch field {
            case "scene": request.scene = try SceneName(try value.string(field), field: field)
            case "client": request.client = try ClientName(try value.string(field), field: field)
            case "leaseSeconds": request.lease = try value.seconds(field, in: Limits.leaseDurations)
            case "ticketSeconds": request.ticket = try value.seconds(field, in: Limits.ticketDurations)
            case "queueSeconds": request.queue = try value.seconds(field, in: Limits.queueDurations)
            case "wait" where maySetWait: wait.body = try value.seconds(field, in: Limits.waitDurations)
            case "scope": request.scope = try value.scope(field)
            case "operation": request.operation = try value.operation(field)
            case "expect": request.expectations = try value.expectations(field)
            case "animation": request.animation = try value.animation(field)
            case "onExpiry": request.onExpiry = try value.word(field)
            default: try request.readCooperation(field, &value)
            }
        }
        if request.scope == .operation, request.operation == nil {
            throw .invalid("scope", "can be \"operation\" only where there is an operation")
        }
        request.session = try call.session()
        if let key = call.request.headers.value(of: .idempotencyKey) {
            request.idempotencyKey = try IdempotencyKey(key, field: HeaderName.idempotencyKey.rawValue)
        }
        if maySetWait {
            try wait.readQueryAndHeader(of: call)
        } else {
            try call.readQuery { item throws(Problem) in throw Problem.unknown(item.name) }
        }
    }
}

/// The transition that a request acts on, and the right to do so.
struct ActedTransition: Sendable {
    private var id: TransitionID?
    private var token: Token?

    /// - Throws: a problem that names the field.
    mutating func read(_ field: String, _ value: inout JSONReader) throws(Problem) {
        switch field {
        case "id": id = try TransitionID(try value.string(field), field: field)
        case "token": token = try Token(try value.string(field), field: field)
        default: throw Problem.unknown(field)
        }
    }

    func requiredID() throws(Problem) -> TransitionID {
        guard let id else { throw Problem.missing("id") }
        return id
    }

    func requiredToken() throws(Problem) -> Token {
        guard let token else { throw Problem.missing("token") }
        return token
    }
}

/// How long a client will wait: the body says it first, then the query, then `Prefer: wait=` (RFC 7240).
struct Wait: Sendable {
    var body: Duration?
    var query: Duration?
    private var preferred: Duration?

    func resolved(default fallback: Duration) -> Duration {
        body ?? query ?? preferred ?? fallback
    }

    /// The header field that says the preference was followed, where it was.
    var appliedPreference: [HeaderField] {
        guard body == nil, query == nil, let preferred else { return [] }
        return [HeaderField("Preference-Applied", "wait=\(preferred.inSeconds)")]
    }

    /// Reads `?wait=`, the one parameter there is, and the header.
    mutating func readQueryAndHeader(of call: Call) throws(Problem) {
        try call.readQuery { item throws(Problem) in
            guard item.name == "wait" else { throw Problem.unknown(item.name) }
            query = try Self.parsed(item.value, field: item.name)
        }
        readHeader(of: call)
    }

    /// Reads the `wait` of the `Prefer` header; a preference that cannot be followed is ignored (RFC 7240, section 2).
    mutating func readHeader(of call: Call) {
        guard let prefer = call.request.headers.value(of: .prefer) else { return }
        for item in prefer.split(separator: ",") {
            // What follows a semicolon is a parameter of the preference, not one itself.
            let parts = item.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
                .map { $0.filter { $0 != " " && $0 != "\"" } }
            guard parts.count == 2, parts[0].lowercased() == "wait" else { continue }
            guard let wait = try? Self.parsed(parts[1], field: HeaderName.prefer.rawValue) else { return }
            preferred = wait
            return
        }
    }

    /// A number of seconds in a query or header, written as in JSON.
    static func parsed(_ text: String, field: String) throws(Problem) -> Duration {
        guard let seconds = JSONReader.number(text) else {
            throw Problem(.invalidField, "\(quoted(field)) must be a number of seconds.", field: field)
        }
        return try Duration(seconds: seconds, field: field, in: Limits.waitDurations)
    }
}

extension Duration {
    /// - Throws: `invalid-field` if the seconds are not within the range.
    init(seconds: Double, field: @autoclosure () -> String, in range: ClosedRange<Duration>) throws(Problem) {
        // Checked before it is rounded, which could bring it into the range, and before it is converted, which traps on
        // what does not fit.
        guard seconds >= Double(range.lowerBound.wholeNanoseconds) / 1e9,
            seconds <= Double(range.upperBound.wholeNanoseconds) / 1e9
        else {
            let field = field()
            throw Problem(
                .invalidField,
                "The field \(quoted(field)) must be \(range.lowerBound.inSeconds) to \(range.upperBound.inSeconds) seconds.",
                field: field)
        }
        self = .nanoseconds(Int64((seconds * 1e9).rounded()))
    }

    /// In decimal notation, to the millisecond.
    fileprivate var inSeconds: String {
        let milliseconds = wholeNanoseconds / 1_000_000
        return milliseconds % 1000 == 0 ? String(milliseconds / 1000) : String(Double(milliseconds) / 1000)
    }
}

// MARK: - Names

extension RawRepresentable where Self: CaseIterable, RawValue == String {
    /// One of the words that there are.
    init(_ text: String, field: String) throws(Problem) {
        guard let word = Self(rawValue: text) else {
            let words = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem(.invalidField, "The field \(quoted(field)) must be one of: \(words).", field: field)
        }
        self = word
    }
}

extension CheckedName {
    /// - Throws: `invalid-field` if the text is no such name.
    init(_ text: String, field: String) throws(Problem) {
        guard let name = Self(text) else {
            let kind = Self.kind.prefix(1).uppercased() + Self.kind.dropFirst()
            // A rule may end with a full stop of its own: `. or ..`
            let stop = Self.rule.hasSuffix(".") ? "" : "."
            throw Problem(.invalidField, "\(kind) is \(Self.rule)\(stop)", field: field)
        }
        self = name
    }
}

extension TransitionID {
    init(_ text: String, field: String) throws(Problem) {
        guard let id = TransitionID(text) else {
            throw Problem(.invalidField, "A transition's id looks like t-7f3k9v0m2c5xq.", field: field)
        }
        self = id
    }
}

extension Token {
    init(_ text: String, field: String) throws(Problem) {
        var words: (high: UInt64, low: UInt64) = (0, 0)
        guard text.utf8.count == 32 else { throw Self.malformed(field) }
        for byte in text.utf8 {
            guard let digit = byte.hexadecimalValue else { throw Self.malformed(field) }
            words = (words.high << 4 | words.low >> 60, words.low << 4 | UInt64(digit))
        }
        self.init(high: words.high, low: words.low)
    }

    private static func malformed(_ field: String) -> Problem {
        Problem(.invalidField, "A token is 32 hexadecimal digits.", field: field)
    }
}
