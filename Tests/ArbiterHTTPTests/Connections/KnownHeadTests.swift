import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// Requests whose head has come on their connection before.
struct KnownHeadTests {
    private let access: AccessControl
    private let server: LoopbackServer

    private static func file(_ token: String, scenes: String = "\"*\"") -> String {
        #"principals: [{name: kiosk, token: "\#(SecretDigest(of: token))", roles: [observe, transition], scenes: \#(scenes)}]"#
    }

    init() throws {
        access = try AccessControl(Self.file("first"))
        server = try LoopbackServer(parked: 10, access: access)
    }

    private let headers = ["Authorization: Bearer first"]

    /// Asks on a connection that has had this head already.
    private func repeated(_ client: WireClient, _ path: String, _ more: [String] = []) throws -> WireResponse {
        for _ in 0..<3 { _ = try client.request("GET", path, headers: headers + more) }
        return try client.request("GET", path, headers: headers + more)
    }

    @Test func `another access file counts from the next request on, also on a connection that is open`() throws {
        let client = try server.connect()
        #expect(try repeated(client, "/scenes").status == 200)
        try access.replace(with: Self.file("second"))
        #expect(try client.request("GET", "/scenes", headers: headers).status == 401)
        try access.replace(with: Self.file("first", scenes: "other"))
        let start = #"{"scene": "main"}"#
        #expect(try client.request("POST", "/transitions/start", headers: headers, body: start).status == 403)
        #expect(try client.request("GET", "/scenes", headers: headers).status == 200)
    }

    @Test func `a head that differs in the query alone is another one`() throws {
        let client = try server.connect()
        for scene in ["a", "b"] {
            _ = try client.request("POST", "/transitions/start", headers: headers, body: #"{"scene": "\#(scene)"}"#)
        }
        for _ in 0..<3 {
            #expect(try client.request("GET", "/scenes?limit=1", headers: headers)["scenes"].elements.count == 1)
            #expect(try client.request("GET", "/scenes?limit=2", headers: headers)["scenes"].elements.count == 2)
            // libmicrohttpd's memory has the same bytes, because the query is hidden there.
            #expect(try client.request("GET", "/scenes?simit=1", headers: headers).status == 400)
        }
    }

    @Test func `what the head does not decide is looked at each time`() throws {
        let client = try server.connect()
        let first = try repeated(client, "/scenes")
        let second = try client.request("GET", "/scenes", headers: headers)
        #expect(first.header("X-Request-Id") != second.header("X-Request-Id"))
        #expect(try repeated(client, "/scenes", ["X-Request-Id: mine"]).header("X-Request-Id") == "mine")
        #expect(try repeated(client, "/scenes", ["Accept: text/html"]).status == 406)
        for scene in ["a", "b", "c", "a"] {
            let answer = try client.request(
                "POST", "/transitions/start", headers: headers, body: #"{"scene": "\#(scene)"}"#)
            #expect(answer.status == (answer["code"] == "busy" ? 409 : 201))
        }
        // Two more heads have taken the places of the first ones.
        #expect(try repeated(client, "/scenes").status == 200)
    }

    @Test func `a body that is malformed leaves the known heads alone`() throws {
        let client = try server.connect()
        let start = #"{"scene": "a"}"#
        for _ in 0..<3 { _ = try client.request("POST", "/transitions/start", headers: headers, body: start) }
        #expect(
            try client.request("POST", "/transitions/start", headers: headers, body: #"{"scene": "b",}"#).status == 400)
        #expect(
            try client.request("POST", "/transitions/start", headers: headers, body: #"{"scene"= "a"}"#).status == 400)
        #expect(try client.request("POST", "/transitions/start", headers: headers, body: start).status == 409)
    }

    /// In libmicrohttpd's memory, a NUL that was sent looks like the end of a name or of a line.
    @Test(arguments: [
        ("Content-Length: 5\r\n\r\nabcde", "\0Content-Length\0 5\r\n\r\nabcde"),
        ("X: a\nb:\n\r\n", "X: a\0b\r\n\r\n"),
        ("P:q\r\nX:Content-Length\n5:z\r\n\r\n", "P:q\0\0X\nContent-Length:5\0z\r\n\r\n"),
        ("P:q\r\nX:Content-Length\n5:z\r\n\r\n", "P:q\0\0X\nContent-Length:5\nz:\n\r\n"),
    ])
    func `a head whose bytes alone are known is checked`(known: String, other: String) throws {
        let client = try server.connect()
        let first = "POST /transitions/start HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer first"
        for _ in 0..<3 {
            try client.send("\(first)\r\n\(known)".utf8)
            _ = try client.receive()
        }
        let separator = other.hasPrefix("\0") ? "\0" : "\r\n"
        try client.send("\(first)\(separator)\(other)".utf8)
        #expect(try client.receive().status == 400)
    }
}
