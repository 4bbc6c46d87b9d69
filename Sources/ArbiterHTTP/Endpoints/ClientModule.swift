/// The client for web pages, and its types.
enum ClientModule {
    @Sendable static func show(_ call: Call) throws(Problem) {
        call.respond(Response(200, .javascript, body: Resources.file("client.js")))
    }

    @Sendable static func showTypes(_ call: Call) throws(Problem) {
        call.respond(Response(200, .typescript, body: Resources.file("client.d.ts")))
    }
}
