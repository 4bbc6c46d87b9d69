import Testing

@testable import ArbiterHTTP

/// The target in a request line.
struct RequestTargetTests {
    private func parameters(_ target: String) -> [String]? {
        RequestTarget(Array(target.utf8)).parameters()?.map { "\($0.name)|\($0.value)" }
    }

    @Test func `a query is cut at its ampersands, and a parameter at its first equals sign`() {
        #expect(parameters("/x") == [])
        #expect(parameters("/x?") == [])
        #expect(parameters("/x?a") == ["a|"])
        #expect(parameters("/x?a=1&b=2=3&") == ["a|1", "b|2=3"])
        #expect(parameters("/x?a=&&=b") == ["a|", "|", "|b"])
        #expect(parameters("/x?a+b=c+d%2B") == ["a b|c d%2B"])
        #expect(parameters("/x?a=?") == ["a|?"])
    }

    @Test func `a query has so many parameters and no more`() {
        let most = (0..<ServerLimits.queryParameters).map { "p\($0)=v" }.joined(separator: "&")
        #expect(parameters("/x?\(most)")?.count == ServerLimits.queryParameters)
        #expect(parameters("/x?\(most)&") != nil)
        #expect(parameters("/x?\(most)&p") == nil)
    }

    @Test(arguments: ["/a b", "/a\r", "/a\u{0}b", "/\u{7f}", "/a?\t"])
    func `what cannot stand in a target is noticed`(target: String) {
        #expect(!RequestTarget(Array(target.utf8)).isPrintable)
        #expect(RequestTarget(Array("/a%00?%0d=ü".utf8)).isPrintable)
    }
}
