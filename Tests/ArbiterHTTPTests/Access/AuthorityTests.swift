import Testing

@testable import ArbiterHTTP

struct AuthorityTests {
    @Test(
        arguments: [
            ("127.0.0.1", "127.0.0.1", nil), ("127.0.0.1:8080", "127.0.0.1", 8080), ("[::1]:80", "[::1]", 80),
            ("[2001:DB8::1]", "[2001:db8::1]", nil), ("0.0.0.0:1", "0.0.0.0", 1),
        ] as [(String, String, UInt16?)])
    func `an IP address is known as one`(text: String, address: String, port: UInt16?) throws {
        let authority = try #require(Authority(text))
        #expect(authority.host == .address(address))
        #expect(authority.port == port)
    }

    @Test(
        arguments: [
            ("localhost", "localhost", nil), ("LocalHost.:8080", "localhost", 8080), ("arbiter_1", "arbiter_1", nil),
            ("kiosk.example.:", "kiosk.example", nil), ("127.1", "127.1", nil), ("2130706433", "2130706433", nil),
        ] as [(String, String, UInt16?)])
    func `a name is compared in lower case and without its last dot`(text: String, name: String, port: UInt16?) throws {
        let authority = try #require(Authority(text))
        #expect(authority.host == .name(name))
        #expect(authority.port == port)
    }

    @Test(arguments: [
        "", ".", ":80", "a b", "a/b", "user@localhost", "localhost:x", "localhost:65536", "localhost:-1", "::1", "[::1",
        "[::1]x", "[localhost]", "[127.0.0.1]", "a,b", "localhost, localhost", "exämple", "a\u{0}b",
        String(repeating: "a", count: 256),
    ])
    func `what names no host is refused`(text: String) {
        #expect(Authority(text) == nil)
    }
}

struct OriginTests {
    @Test func `the port of its scheme need not be said`() {
        #expect(Origin("http://localhost:80") == Origin("http://LOCALHOST"))
        #expect(Origin("https://kiosk.example:443") == Origin("https://kiosk.example"))
        #expect(Origin("http://localhost:443") != Origin("https://localhost"))
    }

    @Test func `scheme, host and port tell origins apart`() {
        let origins = [
            "http://localhost:8080", "https://localhost:8080", "http://localhost:8081", "http://127.0.0.1:8080",
            "capacitor://localhost",
        ]
        #expect(Set(origins.compactMap { Origin($0) }).count == origins.count)
    }

    @Test(arguments: [
        "", "null", "*", "localhost", "http:localhost", "http://", "http://a/", "http://a b", "://a", "1://a",
    ])
    func `what is no origin is refused`(text: String) {
        #expect(Origin(text) == nil)
    }
}
