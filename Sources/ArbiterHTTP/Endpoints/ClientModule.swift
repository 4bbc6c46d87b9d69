/// `/client.js`: the client for web pages.
enum ClientModule {
    @Sendable static func show(_ call: Call) throws(Problem) {
        call.respond(Response(200, .javascript, body: Resources.file("client.js")))
    }
}
