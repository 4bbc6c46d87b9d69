internal import ArbiterCore

// The fields of requests about transitions.

/// The body of `start` and `serialize`, with what the headers and the query add to it.
struct AskedTransition: Sendable {
    var request = TransitionRequest.plain
    var wait = Wait()
    /// Whether the client only asks what would come of the request.
    let isDryRun: Bool

    /// Reads a request.
    ///
    /// - Parameters:
    ///   - call: the request.
    ///   - maySetWait: whether the call may park, so that the request may say how long.
    /// - Throws: a problem that names the field.
    init(_ call: Call, maySetWait: Bool) throws(Problem) {
        var operation = AskedOperation()
        isDryRun = try call.query.value(of: .dryRun, Bool.init(_:field:)) ?? false
        try call.readBody { field, value throws(Problem) in
            switch field {
            case "scene": request.scene = try SceneName(try value.string(field), field: field)
            case "client": request.client = try ClientName(try value.string(field), field: field)
            case "leaseSeconds": request.lease = try value.seconds(field, in: Limits.leaseDurations)
            case "maxHoldSeconds": request.maxHold = try value.seconds(field, in: Limits.holdDurations)
            case "ticketSeconds": request.ticket = try value.seconds(field, in: Limits.ticketDurations)
            case "queueSeconds": request.queue = try value.seconds(field, in: Limits.queueDurations)
            case "whenBusy" where maySetWait:
                request.interrupts = try value.word(field, as: WhenBusy.self) == .interrupt
            case "unmet" where maySetWait: request.unmet = try value.word(field)
            case "wait" where maySetWait: wait.body = try value.seconds(field, in: Limits.waitDurations)
            case "scope": request.scope = try value.scope(field)
            case "priority": request.priority = try value.priority(field)
            case "operation", "operations": try operation.read(field, from: &value)
            case "expect": request.expectations = try value.expectations(field)
            case "animation": request.animation = try value.animation(field)
            case "onExpiry": request.onExpiry = try value.word(field)
            default: try request.readCooperation(field, &value)
            }
        }
        request.operation = operation.value
        if request.scope == .operation, request.operation == nil {
            throw .invalid("scope", "can be \"operation\" only where there is an operation")
        }
        try request.checkMode(operationField: operation.field)
        if request.unmet == .wait, request.queue == nil { throw Problem.missing("queueSeconds") }
        try call.permission.check(request.scene)
        try call.permission.check(request.priority)
        if request.ignoresGuards { try call.permission.checkMayIgnoreGuards() }
        request.highestPriority = call.permission.highestPriority
        request.principal = call.caller.principal
        // What is no trace is ignored (https://www.w3.org/TR/trace-context/#a-traceparent-is-received).
        request.trace = call.request.headers.value(of: .traceParent).flatMap { TraceParent($0) }
        request.session = try call.session()
        // A dry run makes nothing that a key could stand for.
        if !isDryRun, let key = call.request.headers.value(of: .idempotencyKey) {
            request.idempotencyKey = try IdempotencyKey(ofRequest: key)
        }
        if maySetWait { try wait.readQueryAndHeader(of: call) }
    }
}

/// What a request does to the hierarchy: `operation`, or several as `operations`.
struct AskedOperation {
    private(set) var value: Operation?
    private(set) var field: String?

    /// - Throws: a problem that names the field.
    mutating func read(_ field: String, from reader: inout JSONReader) throws(Problem) {
        if let other = self.field {
            throw .invalid(field, "cannot be given together with \"\(other)\"")
        }
        self.field = field
        value = field == "operations" ? try reader.operations(field) : try reader.operation(field)
    }
}

/// The transition that a request acts on, and its token, which is the right to do so.
struct ActedTransition: Sendable {
    private var id: TransitionID?
    private var token: Token?

    /// - Throws: a problem that names the field.
    mutating func read(_ field: String, _ value: inout JSONReader) throws(Problem) {
        switch field {
        case "id": id = try TransitionID(try value.string(field), field: field)
        case "token": token = try value.token(field)
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

/// How long a client will wait; the body has precedence over the query, and that over `Prefer: wait=` (RFC 7240).
struct Wait: Sendable {
    var body: Duration?
    private var query: Duration?
    private var preferred: Duration?

    /// The wait with the highest precedence, or the fallback.
    func resolved(default fallback: Duration) -> Duration {
        body ?? query ?? preferred ?? fallback
    }

    /// The response header that confirms the preference; empty if the preference was not applied.
    var appliedPreference: [HeaderField] {
        guard body == nil, query == nil, let preferred else { return [] }
        return [HeaderField("Preference-Applied", "wait=\(preferred.inSeconds)")]
    }

    /// Reads `?wait=` and the header.
    mutating func readQueryAndHeader(of call: Call) throws(Problem) {
        query = try call.query.value(of: .wait) { text, field throws(Problem) in try Self.parsed(text, field: field) }
        readHeader(of: call)
    }

    /// Reads the `wait` of the `Prefer` header; a preference that cannot be followed is ignored (RFC 7240, section 2).
    private mutating func readHeader(of call: Call) {
        guard let prefer = call.request.headers.value(of: .prefer) else { return }
        for item in prefer.split(separator: ",") {
            // The text after a semicolon is a parameter of the preference, not a preference.
            let parts = item.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
                .map { $0.filter { $0 != " " && $0 != "\"" } }
            guard parts.count == 2, parts[0].lowercased() == "wait" else { continue }
            guard let wait = try? Self.parsed(parts[1], field: HeaderName.prefer.text) else { return }
            preferred = wait
            return
        }
    }

    /// A number of seconds in a query or header, written as in JSON.
    static func parsed(
        _ text: String, field: String, in range: ClosedRange<Duration> = Limits.waitDurations
    ) throws(Problem) -> Duration {
        guard let seconds = JSONReader.number(text) else {
            throw Problem(.invalidField, "\(quoted(field)) must be a number of seconds.", field: field)
        }
        return try Duration(seconds: seconds, field: field, in: range)
    }
}

extension Duration {
    /// - Throws: `invalid-field` if the seconds are not within the range.
    init(seconds: Double, field: @autoclosure () -> String, in range: ClosedRange<Duration>) throws(Problem) {
        // Checked before rounding, which could bring a value into the range, and before conversion, which traps on a
        // value that does not fit.
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
    var inSeconds: String {
        let milliseconds = wholeNanoseconds / 1_000_000
        return milliseconds % 1000 == 0 ? String(milliseconds / 1000) : String(Double(milliseconds) / 1000)
    }
}

// MARK: - Names

extension RawRepresentable where Self: CaseIterable, RawValue == String {
    /// - Throws: `invalid-field`, which lists the possible words, if the text is none of them.
    init(_ text: String, field: String) throws(Problem) {
        guard let word = Self(rawValue: text) else {
            let words = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem(.invalidField, "The field \(quoted(field)) must be one of: \(words).", field: field)
        }
        self = word
    }
}

extension Bool {
    /// - Throws: `invalid-field` if the text is neither `true` nor `false`.
    init(_ text: String, field: String) throws(Problem) {
        guard let value = Bool(text) else {
            throw Problem(.invalidField, "The field \(quoted(field)) must be one of: true, false.", field: field)
        }
        self = value
    }
}

extension CheckedName {
    /// - Throws: `invalid-field` if the text does not follow the rule for the name.
    init(_ text: String, field: String) throws(Problem) {
        guard let name = Self(text) else {
            let kind = Self.kind.prefix(1).uppercased() + Self.kind.dropFirst()
            // A rule may itself end with a full stop: `. or ..`
            let stop = Self.rule.hasSuffix(".") ? "" : "."
            throw Problem(.invalidField, "\(kind) is \(Self.rule)\(stop)", field: field)
        }
        self = name
    }
}

extension TransitionID {
    /// - Throws: `invalid-field` if the text is not an id.
    init(_ text: String, field: String) throws(Problem) {
        guard let id = TransitionID(text) else {
            throw Problem(.invalidField, "A transition's id looks like t-7f3k9v0m2c5xq.", field: field)
        }
        self = id
    }
}

extension IdempotencyKey {
    /// Reads the key of a request, which must be so long that nobody guesses it.
    ///
    /// - Throws: `invalid-field` if the text is no key, or is too short or too long.
    fileprivate init(ofRequest text: String) throws(Problem) {
        let lengths = Limits.idempotencyKeys
        guard lengths.contains(text.utf8.count), let key = IdempotencyKey(text) else {
            throw Problem(
                .invalidField,
                "An idempotency key must have \(lengths.lowerBound) to \(lengths.upperBound) visible ASCII characters. "
                    + "Draw it at random: whoever has it gets the token.",
                field: HeaderName.idempotencyKey.text)
        }
        self = key
    }
}

extension Token {
    /// - Throws: `invalid-field` if the text is not a token.
    init(_ text: String, field: String) throws(Problem) {
        guard let token = Self(hexadecimal: text.utf8) else {
            throw Problem(.invalidField, "A token is 32 hexadecimal digits.", field: field)
        }
        self = token
    }

    /// - Returns: `nil` if the text is not 32 hexadecimal digits.
    fileprivate init?(hexadecimal digits: some Collection<UInt8>) {
        var words: (high: UInt64, low: UInt64) = (0, 0)
        guard digits.count == Self.digitCount else { return nil }
        for byte in digits {
            guard let digit = byte.hexadecimalValue else { return nil }
            words = (words.high << 4 | words.low >> 60, words.low << 4 | UInt64(digit))
        }
        self.init(high: words.high, low: words.low)
    }

    fileprivate static var digitCount: Int { 32 }
}

extension JSONReader {
    /// - Throws: `invalid-field` if the value is not a token.
    fileprivate mutating func token(_ field: String) throws(Problem) -> Token {
        // Read where it is, without a string, unless it is escaped or malformed.
        let (start, end) = (index + 1, index + 1 + Token.digitCount)
        if peek == UInt8(ascii: "\""), end < bytes.count, bytes[end] == UInt8(ascii: "\""),
            let token = Token(hexadecimal: bytes[start..<end])
        {
            index = end + 1
            return token
        }
        return try Token(try string(field), field: field)
    }
}
