internal import ArbiterCore

// The session that a request is made in.

extension Call {
    /// The token of the session that the request is made in, if it names one.
    ///
    /// - Throws: `invalid-field` if it is no token.
    func session() throws(Problem) -> Token? {
        guard let text = request.headers.value(of: .session) else { return nil }
        return try Token(text, field: HeaderName.session.text)
    }

    /// The token of the session that the request cannot do without.
    ///
    /// - Throws: `unauthenticated` if it names none.
    func requiredSession() throws(Problem) -> Token {
        guard let token = try session() else {
            throw Problem(
                .unauthenticated, "Send the token of your session in \(HeaderName.session.text).",
                field: HeaderName.session.text)
        }
        return token
    }
}
