/// A parameter that a route may take in its query.
enum QueryParameter: String, Hashable, Sendable {
    case after
    case client
    case controller
    case dryRun
    case id
    case `is`
    case limit
    case not
    case partial
    case quietSeconds
    case scene
    case since
    case state
    case trace
    case until
    case wait
}

/// The query of a request: the parameters that its route takes, decoded.
struct Query: Sendable {
    private var values: [QueryParameter: String] = [:]

    /// A query without parameters.
    init() {}

    /// Decodes the parameters, in their order.
    ///
    /// - Parameters:
    ///   - items: as they came.
    ///   - parameters: those that the route takes.
    /// - Throws: `invalid-field` if one is given twice or is not percent-encoded UTF-8, `unknown-field` if the route does
    ///   not take it.
    init(_ items: [QueryItem], taking parameters: Set<QueryParameter>) throws(Problem) {
        for item in items {
            guard let name = PercentEncoding.decode(item.name), let value = PercentEncoding.decode(item.value) else {
                throw Problem(
                    .invalidField, "The parameter \(quoted(item.name)) is not percent-encoded UTF-8.", field: item.name)
            }
            guard let parameter = QueryParameter(rawValue: name), parameters.contains(parameter) else {
                throw Problem.unknown(name)
            }
            guard values.updateValue(value, forKey: parameter) == nil else {
                throw Problem(.invalidField, "The parameter \(quoted(name)) is given twice.", field: name)
            }
        }
    }

    /// Reads a parameter, if it is given.
    ///
    /// - Parameters:
    ///   - parameter: which one; one that the route takes.
    ///   - parse: reads its text, and throws a problem that names the field.
    /// - Returns: `nil` if it is not given.
    /// - Throws: what `parse` throws.
    func value<Value>(
        of parameter: QueryParameter, _ parse: (_ text: String, _ field: String) throws(Problem) -> Value
    ) throws(Problem) -> Value? {
        guard let text = values[parameter] else { return nil }
        return try parse(text, parameter.rawValue)
    }
}
