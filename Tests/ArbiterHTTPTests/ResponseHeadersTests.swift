import Testing

@testable import ArbiterHTTP

/// The header fields of every answer; `Answer` checks `Cache-Control` in each.
struct ResponseHeadersTests {
    private let service: Service

    init() throws {
        service = try Service()
    }

    private func id(_ given: String?, _ method: String = "GET", _ target: String = "/livez") throws -> String {
        let answer = try service.ask(method, target, headers: given.map { [.requestID: $0] } ?? [:])
        return try #require(answer.headers("X-Request-Id").first)
    }

    @Test(arguments: ["x", "7f3c-11", "!~", "{\"a\":1}", "a,b;c=d", String(repeating: "r", count: 128)])
    func `a request's own id is given back, whatever is answered`(given: String) throws {
        #expect(try id(given) == given)
        #expect(try id(given, "GET", "/nowhere") == given)
        #expect(try id(given, "POST", "/livez") == given)
        #expect(try id(given, "POST", "/transitions/end") == given)
        service.router.drain()
        #expect(try id(given, "GET", "/scenes") == given)
    }

    @Test(arguments: [
        "", " ", "a b", "a\tb", "a\r\nSet-Cookie: x", "\u{7f}", "ä", "🚀", "\0", String(repeating: "r", count: 129),
    ])
    func `an id that cannot be repeated is replaced`(given: String) throws {
        let made = try id(given)
        #expect(made != given)
        #expect(made.utf8.allSatisfy { 0x21...0x7e ~= $0 })
    }

    @Test func `a request without an id gets one of its own`() throws {
        let ids = try (0..<100).map { _ in try id(nil) }
        #expect(Set(ids).count == 100)
    }

    @Test func `an answer that waited carries the id of its own request`() throws {
        let holder = try service.started()
        let exchange = service.send(
            "POST", "/transitions/serialize", #"{"wait": 9}"#, headers: [.requestID: "waited", .prefer: "wait=2"])
        try service.ask("POST", "/transitions/end", holder.acting(), headers: [.requestID: "ended"])
        #expect(try exchange.answer().headers("X-Request-Id") == ["waited"])
    }

    @Test func `content types say the charset`() throws {
        #expect(try service.ask("GET", "/livez").response.contentType?.rawValue == "application/json; charset=utf-8")
        #expect(
            try service.ask("GET", "/openapi.yaml").response.contentType?.rawValue == "application/yaml; charset=utf-8")
    }
}
