import Foundation
import Testing

@testable import ArbiterHTTP

struct RoutingTests {
    private let service: Service

    init() throws {
        service = try Service()
    }

    @Test(arguments: [
        "", "/page", "/page/", "/transition", "/transitions/", "/transitions/start/", "//transitions", "/transitions//",
        "/scenes/",
        "/scenes/main/", "/scenes/main/nothing", "/scenes/main/events/", "/scenes/main/storyboard/", "/Transitions",
        "/scenes/main/controllers", "/scenes/main/controllers/", "/scenes/main/controllers/a/b",
        "/livez/", "/openapi", "/openapi.yml", "*", "/sessions/", "/sessions/s-0000000000001", "/transitions/ready/",
        "/transitions%2Fstart", "/scenes/%", "/scenes/%f", "/scenes/%ff", "/transitions/%zz",
    ])
    func `there is nothing where there is nothing`(path: String) throws {
        for method in ["GET", "POST", "HEAD", "BREW"] {
            let answer = try service.ask(method, path)
            #expect(answer.status == 404)
            #expect(answer.code == "not-found")
        }
    }

    @Test(arguments: [
        ("/transitions/start", ["POST"]), ("/transitions/serialize", ["POST"]), ("/transitions/end", ["POST"]),
        ("/transitions/renew", ["POST"]), ("/transitions/await", ["GET", "HEAD", "POST"]),
        ("/transitions", ["GET", "HEAD"]), ("/transitions/t-0000000000001", ["GET", "HEAD"]),
        ("/scenes", ["GET", "HEAD"]), ("/scenes/main", ["DELETE", "GET", "HEAD"]),
        ("/scenes/main/storyboard", ["GET", "HEAD", "PATCH", "PUT"]), ("/scenes/main/events", ["GET", "HEAD"]),
        ("/scenes/main/controllers/list", ["GET", "HEAD"]),
        ("/transitions/perform", ["POST"]), ("/transitions/progress", ["POST"]), ("/transitions/release", ["POST"]),
        ("/transitions/ready", ["POST"]),
        ("/sessions", ["POST"]), ("/sessions/renew", ["POST"]), ("/sessions/end", ["POST"]),
        ("/livez", ["GET", "HEAD"]),
        ("/readyz", ["GET", "HEAD"]), ("/openapi.yaml", ["GET", "HEAD"]), ("/openapi.json", ["GET", "HEAD"]),
        ("/client.js", ["GET", "HEAD"]), ("/client.d.ts", ["GET", "HEAD"]),
        ("/whoami", ["GET", "HEAD"]), ("/cluster", ["GET", "HEAD"]),
        ("/", ["GET", "HEAD"]), ("/page.css", ["GET", "HEAD"]), ("/page/words.js", ["GET", "HEAD"]),
        ("/trace", ["GET", "HEAD"]), ("/scenes/main/trace", ["GET", "HEAD"]),
    ])
    func `a method that a path does not know is refused with those it does`(path: String, allowed: [String]) throws {
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "get", "post", "BREW"] {
            guard !allowed.contains(method) else { continue }
            let answer = try service.ask(method, path, "{}")
            #expect(answer.status == 405)
            #expect(answer.code == "method-not-allowed")
            #expect(answer.headers("Allow") == [allowed.joined(separator: ", ")])
        }
        #expect(try service.transitions().isEmpty)
    }

    @Test func `every file of the page is served as it is in the folder`() throws {
        let folder = URL(filePath: #filePath).appending(path: "../../../../Sources/ArbiterHTTP/Page").standardized
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.contains("page.html"))
        for name in names {
            let path = name == "page.html" ? "/" : name.hasPrefix("page.") ? "/\(name)" : "/page/\(name)"
            let answer = try service.ask("GET", path)
            #expect(try answer.response.body == Array(Data(contentsOf: folder.appending(path: name))), "\(path)")
        }
    }

    @Test(arguments: [("client.js", "text/javascript"), ("client.d.ts", "application/typescript")])
    func `the client for web pages is served as it is in its folder`(name: String, type: String) throws {
        let folder = URL(filePath: #filePath).appending(path: "../../../../Clients/javascript").standardized
        let answer = try service.ask("GET", "/\(name)")
        #expect(try answer.response.body == Array(Data(contentsOf: folder.appending(path: name))))
        #expect(answer.response.contentType?.rawValue == "\(type); charset=utf-8")
    }

    @Test(arguments: ["nothing.js", "page.js", "%2e%2e", "words.JS"])
    func `a module that the page does not have is not found`(name: String) throws {
        let answer = try service.ask("GET", "/page/\(name)")
        #expect(answer.status == 404)
        #expect(answer.code == "not-found")
    }

    @Test func `the page may use nothing from elsewhere`() throws {
        for path in ["/", "/page.css", "/page.js", "/page/words.js"] {
            let answer = try service.ask("GET", path)
            #expect(answer.status == 200)
            #expect(answer.headers("X-Content-Type-Options") == ["nosniff"])
            #expect(answer.headers("Content-Security-Policy").first?.hasPrefix("default-src 'none'; ") == true)
        }
    }

    @Test(arguments: [
        ("GET", "/page/"), ("GET", "/page/a/b"), ("GET", "/page/dom.js/"), ("GET", "/page/nothing.js"), ("POST", "/"),
        ("DELETE", "/page.js"), ("GET", "/page.css?x=1"),
    ])
    func `a refusal where the page is has the header fields of the page`(method: String, target: String) throws {
        let page = try service.ask("GET", "/")
        for headers in [[:], [.accept: "image/png"], [.host: "elsewhere"]] as [[HeaderName: String]] {
            let answer = try service.ask(method, target, headers: headers)
            #expect(answer.status >= 400)
            for field in ["Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy"] {
                #expect(answer.headers(field) == page.headers(field))
            }
        }
        #expect(try service.ask("GET", "/scenes/x/y/z").headers("Content-Security-Policy").isEmpty)
    }

    @Test(arguments: ["utm_source=x", "scene=a&scene=b", "scene=%ff", "=", "scene=main&x=1&trace=/trace"])
    func `the page is shown whatever the query has`(query: String) throws {
        #expect(try service.ask("GET", "/?\(query)", headers: [.accept: "text/html"]).status == 200)
        #expect(try service.ask("GET", "/page.js?\(query)").status == 400)
    }

    @Test(arguments: ["t-0000000000001", "x", "t-%30", "START", "%2e%2e"])
    func `a transition that is not there is not found`(id: String) throws {
        let answer = try service.ask("GET", "/transitions/\(id)")
        #expect(answer.status == 404)
        #expect(answer.code == "unknown-transition")
    }

    @Test func `a part of a path may be percent-encoded`() throws {
        let holder = try service.started(#"{"scene": "a.b"}"#)
        #expect(try service.ask("GET", "/scenes/a%2eb").body["name"] == "a.b")
        #expect(try service.ask("GET", "/transitions/%74-\(holder.id.dropFirst(2))").status == 200)
    }

    @Test(arguments: [
        ("application/json", true), ("*/*", true), ("application/*", true), ("APPLICATION/JSON", true),
        ("text/html, application/json;q=0.5", true), ("text/html, */*;q=0.1", true), ("text/html", false),
        ("application/xml", false), ("application/json;q=0", false), ("*/*, application/json;q=0", false),
        ("application/problem+json", false), ("application/yaml", false),
    ])
    func `what cannot be served as it is accepted is refused before it is done`(accept: String, isAccepted: Bool)
        throws
    {
        let answer = try service.ask("POST", "/transitions/start", headers: [.accept: accept])
        #expect(answer.status == (isAccepted ? 201 : 406))
        if !isAccepted {
            #expect(answer.code == "not-acceptable")
            #expect(answer.field == "Accept")
        }
        #expect(try service.transitions().count == (isAccepted ? 1 : 0))
    }

    @Test func `the description in YAML is asked for as YAML`() throws {
        #expect(try service.ask("GET", "/openapi.yaml", headers: [.accept: "application/yaml"]).status == 200)
        #expect(try service.ask("GET", "/openapi.yaml", headers: [.accept: "application/json"]).status == 406)
        #expect(try service.ask("GET", "/openapi.json", headers: [.accept: "application/json"]).status == 200)
    }

    @Test(arguments: [
        "text/plain", "application/x-www-form-urlencoded", "application/xml", "application/json; charset=latin1",
        "application/json; charset=utf-16", "application/jsonx", "json", "", "multipart/form-data; boundary=x",
    ])
    func `a body of another type is refused`(type: String) throws {
        let actions = ["start", "serialize", "await", "end", "renew", "progress", "release", "ready"]
        for target in actions.map({ "/transitions/\($0)" }) + ["/sessions", "/sessions/renew", "/sessions/end"] {
            let headers = [HeaderName.contentType: type]
            let answer = try service.ask("POST", target, "{}", headers: headers)
            #expect(answer.status == 415)
            #expect(answer.code == "unsupported-media-type")
            #expect(answer.field == "Content-Type")
        }
        #expect(try service.transitions().isEmpty)
    }

    @Test(arguments: [
        "application/json", "Application/JSON", "application/json;charset=utf-8", "application/json; charset=\"UTF-8\"",
    ])
    func `a body of JSON in UTF-8 is read`(type: String) throws {
        #expect(try service.ask("POST", "/transitions/start", "{}", headers: [.contentType: type]).status == 201)
    }

    @Test func `where there is no body its type does not matter`() throws {
        let headers = [HeaderName.contentType: "application/x-www-form-urlencoded"]
        #expect(try service.ask("POST", "/transitions/start", headers: headers).status == 201)
    }

    @Test func `of several things that are wrong the first on the way is answered`() throws {
        let target = "/scenes/%20/storyboard?x=1"
        var headers: [HeaderName: String] = [.host: "elsewhere", .accept: "text/html", .contentType: "text/plain"]
        let answered = { (headers: [HeaderName: String], target: String) in
            try service.ask("PUT", target, "[", headers: headers).code
        }
        #expect(try answered(headers, target) == "misdirected-request")
        headers[.host] = nil
        #expect(try answered(headers, "/scenes?x=1") == "method-not-allowed")
        #expect(try answered(headers, target) == "not-acceptable")
        headers[.accept] = nil
        #expect(try answered(headers, target) == "unsupported-media-type")
        headers[.contentType] = nil
        #expect(try answered(headers, target) == "unknown-field")
        #expect(try answered(headers, "/scenes/%20/storyboard") == "unknown-scene")
        #expect(try answered(headers, "/scenes/main/storyboard") == "malformed-json")
        service.router.drain()
        #expect(try answered([.accept: "text/html"], target) == "draining")
    }
}
