/// `/`, and what it is made of: the page for people, which needs nothing from elsewhere.
enum PageEndpoints {
    /// What the page may do: run its own scripts, and talk to the daemon.
    private static let headers = [
        HeaderField(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
        HeaderField("X-Content-Type-Options", "nosniff"),
        HeaderField("Referrer-Policy", "no-referrer"),
    ]

    @Sendable static func show(_ call: Call) throws(Problem) {
        respond(call, .html, Resources.file("page.html"))
    }

    @Sendable static func style(_ call: Call) throws(Problem) {
        respond(call, .css, Resources.file("page.css"))
    }

    @Sendable static func script(_ call: Call) throws(Problem) {
        respond(call, .javascript, Resources.file("page.js"))
    }

    @Sendable static func module(_ call: Call) throws(Problem) {
        let name = call.parameters["module"] ?? ""
        guard let bytes = Resources.files["page/\(name)"] else {
            throw Problem(.notFound, "The page has no module \(quoted(name)).")
        }
        respond(call, .javascript, bytes)
    }

    /// The header fields of a refusal at a path: a browser must not take one for the page, or for a part of it, either.
    static func headersOfRefusal(at path: String) -> [HeaderField] {
        path == "/" || path == "/page.css" || path == "/page.js" || path.hasPrefix("/page/") ? headers : []
    }

    private static func respond(_ call: Call, _ type: ContentType, _ body: [UInt8]) {
        call.respond(Response(200, type, body: body, headers: headers))
    }
}
