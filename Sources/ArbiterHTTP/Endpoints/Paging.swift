internal import ArbiterCore

// Lists in pages: `limit` says how much a page may have, and `after` what is on the pages before it.

extension Int {
    /// Reads the `limit` of a list.
    ///
    /// - Throws: `invalid-field` if it is none.
    init(limit item: QueryItem) throws(Problem) {
        let range = Limits.listed
        guard item.value.utf8.allSatisfy(\.isDigit), let limit = Int(item.value), range.contains(limit) else {
            throw Problem(
                .invalidField, "The limit must be \(range.lowerBound) to \(range.upperBound).", field: item.name)
        }
        self = limit
    }
}

extension RequestOrder {
    /// Reads the `after` of a list of transitions: the number of the oldest one on the page before.
    ///
    /// - Throws: `invalid-field` if no page has ever ended there.
    init(after item: QueryItem) throws(Problem) {
        guard item.value.utf8.allSatisfy(\.isDigit), let number = UInt64(item.value) else {
            throw Problem(
                .invalidField, "Take the parameter \(quoted(item.name)) from the Link of the page before.",
                field: item.name)
        }
        self.init(rawValue: number)
    }
}

extension HeaderField {
    /// A link (RFC 8288) to another list.
    ///
    /// - Parameters:
    ///   - relation: what the list is to this answer.
    ///   - path: where it is.
    ///   - parameters: of its query; those that have no value are left out.
    /// - Returns: the header field.
    static func link(_ relation: StaticString, to path: String, _ parameters: KeyValuePairs<String, String?>) -> Self {
        let query = parameters.compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encode($0))" } }
        return HeaderField("Link", "<\(path)?\(query.joined(separator: "&"))>; rel=\"\(relation)\"")
    }
}

/// One page of a list of transitions.
struct TransitionPage {
    /// In JSON, the newest first.
    private var entries: [[UInt8]] = []
    /// The oldest of them, if there are any that are older.
    private(set) var last: RequestOrder?

    /// - Parameters:
    ///   - views: the newest that fit, the oldest first.
    ///   - limit: how many there may be at most.
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
