internal import ArbiterCore

// Pages of lists: `limit` is the most entries of a page, and `after` is the last entry of the page before.

extension Int {
    /// Reads the `limit` of a list.
    ///
    /// - Throws: `invalid-field` if it is not a number in the range.
    init(limit text: String, field: String) throws(Problem) {
        let range = Limits.listed
        guard text.utf8.allSatisfy(\.isDigit), let limit = Int(text), range.contains(limit) else {
            throw Problem(
                .invalidField, "The limit must be \(range.lowerBound) to \(range.upperBound).", field: field)
        }
        self = limit
    }
}

extension RequestOrder {
    /// Reads the `after` of a list of transitions: the order of the oldest one on the page before.
    ///
    /// - Throws: `invalid-field` if it is not a number.
    init(after text: String, field: String) throws(Problem) {
        guard text.utf8.allSatisfy(\.isDigit), let number = UInt64(text) else {
            throw Problem(
                .invalidField, "Take the parameter \(quoted(field)) from the Link of the page before.", field: field)
        }
        self.init(rawValue: number)
    }
}

extension RequestTime {
    /// Reads the `after` of a list of the transitions of several shards: `key` of the oldest one on the page before.
    ///
    /// - Throws: `invalid-field` if it is none.
    init(after text: String, field: String) throws(Problem) {
        let parts = text.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let milliseconds = Int64(parts[0]), let number = UInt64(parts[1]) else {
            throw Problem(
                .invalidField, "Take the parameter \(quoted(field)) from the Link of the page before.", field: field)
        }
        self.init(timestamp: Timestamp(milliseconds: milliseconds), id: TransitionID(rawValue: number))
    }

    /// Its text, of which the order is that of the times from 1970 on.
    var key: String { "\(Self.padded(timestamp.milliseconds)).\(Self.padded(id.rawValue))" }

    private static func padded(_ number: some BinaryInteger) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 20 - digits.count)) + digits
    }
}

extension HeaderField {
    /// A link (RFC 8288) to another list.
    ///
    /// - Parameters:
    ///   - relation: the relation type of the list, such as `next`.
    ///   - path: the path of the list.
    ///   - parameters: the parameters of its query; those without a value are left out.
    /// - Returns: the header field.
    static func link(_ relation: StaticString, to path: String, _ parameters: KeyValuePairs<String, String?>) -> Self {
        let query = parameters.compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encode($0))" } }
        return HeaderField("Link", "<\(path)?\(query.joined(separator: "&"))>; rel=\"\(relation)\"")
    }
}

/// One page of a list of transitions, limited by count and by size.
struct TransitionPage {
    /// The entries in JSON, newest first.
    private var entries: [[UInt8]] = []
    /// The order of the oldest entry, if there are older transitions; the `after` of the next page.
    private(set) var last: RequestOrder?

    /// Takes the newest transitions that fit on the page.
    ///
    /// - Parameters:
    ///   - views: the newest transitions of the list, oldest first; one more than `limit` if there are so many.
    ///   - limit: the most entries of the page.
    init(newestOf views: [TransitionView], limit: Int) {
        var byteCount = 0
        for view in views.reversed() {
            guard entries.count < limit, byteCount <= ServerLimits.pageBytes else { return }
            let entry = JSONWriter.object { $0.summaryMembers(of: view) }
            byteCount += entry.count
            entries.append(entry)
            last = view.transition.order
        }
        last = nil
    }

    var response: Response {
        .json(200) { writer in
            writer.array("transitions", entries.reversed()) { writer, entry in writer.bytes += entry }
        }
    }
}
