internal import ArbiterCore

extension Problem {
    package var response: Response {
        var response = Response(status, .problem, body: JSONWriter.line(write))
        response.problem = code
        response.isUntouched = isUntouched
        if let retryAfter { response.headers.append(HeaderField("Retry-After", String(retryAfter))) }
        if !allowedMethods.isEmpty {
            response.headers.append(HeaderField("Allow", allowedMethods.joined(separator: ", ")))
        }
        // Every 401 needs a challenge (RFC 9110, section 15.5.2), and no registered scheme fits tokens of sessions.
        if code == .unauthenticated {
            response.headers.append(HeaderField("WWW-Authenticate", challenge ?? HeaderName.session.text))
        }
        if closesConnection { response.headers.append(HeaderField("Connection", "close")) }
        return response
    }

    private func write(_ writer: inout JSONWriter) {
        writer.member("type", "urn:arbiter:problem:\(code.rawValue)")
        writer.member("title", code.title)
        writer.member("status", status)
        writer.member("detail", detail)
        writer.member("code", code.rawValue)
        if let field { writer.member("field", field) }
        if let expected { writer.member("expected", expected) }
        if let actual { writer.member("actual", actual) }
        if let index { writer.member("index", index) }
        if let busy {
            writer.object("holder") { writer in
                let holder = busy.holder.transition
                writer.member("id", holder.id)
                if let client = holder.request.client { writer.member("client", client.description) }
                writer.member("state", holder.state.rawValue)
                if let note = holder.request.note { writer.member("note", note.description) }
                writer.member("since", holder.grant?.grantedAt ?? holder.requestedAt.timestamp)
            }
            writer.member("blockers", busy.blockers)
            if busy.isBySelf { writer.member("blockedBySelf", true) }
        }
        if let isApplied { writer.member("applied", isApplied) }
        if let transition { writer.object("transition") { $0.summaryMembers(of: transition) } }
        if let retryAfter { writer.member("retryAfter", retryAfter) }
    }
}

/// A name in quotation marks, for a sentence; the middle of a long one is omitted.
func quoted(_ name: String) -> String {
    let shown = 64
    return name.count <= shown ? "\"\(name)\"" : "\"\(name.prefix(shown / 2))…\(name.suffix(shown / 2))\""
}
