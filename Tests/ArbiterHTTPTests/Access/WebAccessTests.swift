import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// The requests that a web page can make a browser send, and their answers.
struct WebAccessTests {
    private static let page = "http://kiosk.example:3000"

    private func service() throws -> Service {
        try Service(
            web: WebAccess(
                hosts: [try #require(Authority.Host("Arbiter.example."))], origins: [try #require(Origin(Self.page))]))
    }

    // MARK: The host of a request

    @Test(arguments: [
        "localhost", "localhost:8080", "LOCALHOST.", "127.0.0.1:8080", "10.0.0.7", "[::1]:8080", "arbiter.example:8080",
        "ARBITER.EXAMPLE.",
    ])
    func `a host that is meant is served`(host: String) throws {
        #expect(try service().ask("POST", "/transitions/start", headers: [.host: host]).status == 201)
    }

    @Test(arguments: [
        "evil.example", "localhost.evil.example", "127.1", "127.0.0.1.evil.example", "arbiter", "x.arbiter.example",
    ])
    func `another host is refused and changes nothing`(host: String) throws {
        let service = try service()
        let answer = try service.ask("POST", "/transitions/start", headers: [.host: host])
        #expect(answer.status == 421)
        #expect(answer.code == "misdirected-request")
        #expect(answer.field == "Host")
        #expect(try service.transitions().isEmpty)
    }

    @Test(arguments: ["", "a b", "localhost:x", "localhost, localhost"])
    func `a host that is missing or none is a bad request`(host: String) throws {
        let answer = try service().ask("GET", "/livez", headers: [.host: host])
        #expect(answer.status == 400)
        #expect(answer.code == "invalid-field")
        #expect(answer.field == "Host")
    }

    @Test func `an absolute target says for whom it is`() throws {
        let service = try service()
        #expect(try service.ask("GET", "http://localhost:8080/livez", headers: [.host: "evil.example"]).status == 200)
        #expect(try service.ask("GET", "http://evil.example/livez").status == 421)
        #expect(try service.ask("GET", "http:///livez").status == 400)
    }

    // MARK: The origin of a request

    @Test(arguments: [
        "http://evil.example", "null", "http://localhost", "http://localhost:3000", "https://localhost:8080",
        "http://127.0.0.1:8080", "http://localhost:8080, http://localhost:8080", "",
    ])
    func `a page of another origin is refused and changes nothing`(origin: String) throws {
        let service = try service()
        let answer = try service.ask(
            "POST", "/transitions/start", headers: [.host: "localhost:8080", .origin: origin])
        #expect(answer.status == 403)
        #expect(answer.code == "foreign-origin")
        #expect(answer.headers("Access-Control-Allow-Origin").isEmpty)
        #expect(try service.transitions().isEmpty)
    }

    @Test(arguments: [
        ("localhost:8080", "http://localhost:8080"), ("127.0.0.1", "http://127.0.0.1"),
        ("127.0.0.1:80", "http://127.0.0.1"), ("[::1]:8080", "http://[::1]:8080"),
    ])
    func `a page of the daemon's own is served without more`(host: String, origin: String) throws {
        let answer = try service().ask(
            "POST", "/transitions/start", headers: [.host: host, .origin: origin, .secFetchSite: "same-origin"])
        #expect(answer.status == 201)
        #expect(answer.headers("Access-Control-Allow-Origin").isEmpty)
    }

    @Test(arguments: ["cross-site", "same-site", "something-new"])
    func `a page without an origin is known by its site`(site: String) throws {
        let service = try service()
        let answer = try service.ask("POST", "/transitions/start", headers: [.secFetchSite: site])
        #expect(answer.status == 403)
        #expect(answer.code == "foreign-origin")
        #expect(answer.field == "Sec-Fetch-Site")
        #expect(try service.ask("GET", "/scenes", headers: [.secFetchSite: site]).status == 403)
        #expect(try service.transitions().isEmpty)
    }

    @Test func `somebody who follows a link or types an address gets there`() throws {
        let service = try service()
        let link: [HeaderName: String] = [.secFetchSite: "cross-site", .secFetchMode: "navigate"]
        #expect(try service.ask("GET", "/scenes", headers: link).status == 200)
        #expect(try service.ask("GET", "/scenes", headers: [.secFetchSite: "none"]).status == 200)
        for (destination, status) in [("document", 200), ("iframe", 403), ("embed", 403)] {
            let headers = link.merging([.secFetchDestination: destination]) { $1 }
            #expect(try service.ask("GET", "/scenes", headers: headers).status == status)
        }
        // A form that is sent is a navigation too.
        #expect(try service.ask("POST", "/transitions/start", headers: link).status == 403)
    }

    // MARK: Allowed origins

    @Test func `an allowed page gets an answer that it may read`() throws {
        let service = try service()
        let headers: [HeaderName: String] = [.origin: Self.page, .secFetchSite: "cross-site"]
        let answer = try service.ask("POST", "/transitions/start", "{}", headers: headers)
        #expect(answer.status == 201)
        #expect(answer.headers("Access-Control-Allow-Origin") == [Self.page])
        #expect(answer.headers("Vary") == ["Origin"])
        let exposed = answer.headers("Access-Control-Expose-Headers").first?.split(separator: ", ")
        let readable = Set((exposed ?? []).map(String.init))
        #expect(readable.isSuperset(of: ["Arbiter-Heartbeat-Seconds", "ETag", "Link", "Retry-After"]))
        #expect(answer.headers("Access-Control-Allow-Credentials").isEmpty)
        // Refusals can be read too.
        let refused = try service.ask("POST", "/transitions/start", "{", headers: headers)
        #expect(refused.status == 400)
        #expect(refused.headers("Access-Control-Allow-Origin") == [Self.page])
    }

    @Test func `an allowed page that asks first is told what it may send`() throws {
        let answer = try service().ask(
            "OPTIONS", "/scenes/main/storyboard",
            headers: [.origin: Self.page, .requestedMethod: "PUT", .requestedPrivateNetwork: "true"])
        #expect(answer.status == 204)
        #expect(answer.headers("Access-Control-Allow-Origin") == [Self.page])
        #expect(answer.headers("Access-Control-Allow-Methods") == ["GET, HEAD, PATCH, PUT"])
        let sent = try #require(answer.headers("Access-Control-Allow-Headers").first)
        for name in [
            "Arbiter-Session", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Last-Event-ID",
            "Prefer",
        ] {
            #expect(sent.contains(name))
        }
        #expect(answer.headers("Access-Control-Allow-Private-Network") == ["true"])
    }

    @Test func `nobody else is told what may be sent`() throws {
        let service = try service()
        let foreign = try service.ask(
            "OPTIONS", "/transitions/start", headers: [.origin: "http://evil.example", .requestedMethod: "POST"])
        #expect(foreign.status == 403)
        let own = try service.ask("OPTIONS", "/transitions/start", headers: [.requestedMethod: "POST"])
        #expect(own.status == 405)
        let nowhere = try service.ask(
            "OPTIONS", "/nowhere", headers: [.origin: Self.page, .requestedMethod: "POST"])
        #expect(nowhere.status == 404)
        #expect(nowhere.headers("Access-Control-Allow-Origin") == [Self.page])
    }

    @Test func `an allowed page may follow events`() throws {
        let exchange = try service().send(
            "GET", "/scenes/main/events", headers: [.origin: Self.page, .secFetchSite: "cross-site"])
        let head = try exchange.answer()
        #expect(head.status == 200)
        #expect(head.headers("Access-Control-Allow-Origin") == [Self.page])
        exchange.source?.close()
    }

    // MARK: Requests without a preflight

    @Test(arguments: [nil, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
    func `a body that does not say it is JSON is refused`(type: String?) throws {
        let service = try service()
        let exchange = RecordingExchange()
        var fields: [HeaderName: String] = [.host: "localhost"]
        fields[.contentType] = type
        service.router.handle(
            Request(
                method: "POST", path: "/transitions/start", headers: DictionaryHeaders(fields: fields),
                body: Array("{}".utf8)), exchange)
        let answer = try exchange.answer()
        #expect(answer.status == 415)
        #expect(answer.field == "Content-Type")
        #expect(try service.transitions().isEmpty)
    }

    @Test func `a request without a body needs no type`() throws {
        #expect(try service().ask("POST", "/transitions/start").status == 201)
    }
}
