internal import ArbiterCore
internal import ArbiterRelay

// What other nodes ask about sessions.

extension Guests {
    /// Lends a session to the node that asks for it.
    func lend(for request: Request, _ call: Call) throws(Problem) {
        guard let word = try GuestMessages.reports(in: request).first, word.caller != nil else {
            throw Problem(.malformedJSON, "The report names nobody.")
        }
        try found { () throws(Misplaced) in
            try lend(word) { result in
                call.respond(result) { session in
                    Response(200, .text, body: GuestMessages.bytes(of: session.map { [$0] } ?? []))
                }
            }
        }
    }

    /// Takes the reports of a node.
    func take(reportsIn request: Request, _ call: Call) throws(Problem) {
        let reports = try GuestMessages.reports(in: request)
        do throws(Misplaced) {
            try take(reports) { result in
                call.respond(result) { taken in
                    Response(
                        200, .text, body: GuestMessages.bytes(of: taken.ended),
                        headers: GuestMessages.fields(of: taken.missing))
                }
            }
        } catch {
            // The next report comes soon, so this one is neither held nor passed on.
            call.respond(Problem(error).response)
        }
    }
}

extension GuestMessages {
    fileprivate static func reports(in request: Request) throws(Problem) -> [GuestReport] {
        guard let reports = values(request.body, of: GuestReport.self) else {
            throw Problem(.malformedJSON, "The reports cannot be read.")
        }
        return reports
    }
}
