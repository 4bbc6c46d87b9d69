/// The header `If-None-Match` (RFC 9110, section 13.1.2): send the answer only if the client does not have it already.
enum IfNoneMatch {
    /// Whether a field's value lists the entity tag of an answer, by weak comparison, or is `*`.
    ///
    /// A value that is neither `*` nor a list of entity tags matches nothing, so that its client gets the whole answer.
    static func matches(_ text: String, _ entityTag: String) -> Bool {
        var reader = EntityTagReader(text)
        if reader.isStar { return true }
        var own = EntityTagReader(entityTag)
        guard let tag = own.tags()?.first else { return false }
        return reader.tags()?.contains { $0.text.elementsEqual(tag.text) } ?? false
    }
}

extension Call {
    /// The answer to a client that has the content already: 304, without content; `nil` if the client gets it.
    func unchanged(_ status: Int, _ headers: [HeaderField]) -> Response? {
        guard status == 200, request.method == "GET" || request.method == "HEAD",
            let tag = headers.first(where: { $0.name == "ETag" }),
            let known = ifNoneMatch, IfNoneMatch.matches(known, tag.value)
        else { return nil }
        return Response(304, nil, body: [], headers: [tag])
    }
}
