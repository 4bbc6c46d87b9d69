import ArbiterTestKit
import Foundation
import Testing

@testable import ArbiterHTTP

struct PercentEncodingTests {
    @Test(arguments: [
        ("", ""), ("abc", "abc"), ("a+b", "a+b"), ("%41", "A"), ("%2F%2f", "//"), ("%25", "%"), ("%2541", "%41"),
        ("%c3%a4", "ä"), ("%F0%9F%9A%80", "🚀"), ("ä%20", "ä "), ("%00", "\0"), ("100%25", "100%"),
    ])
    func `octets are decoded`(encoded: String, decoded: String) {
        #expect(PercentEncoding.decode(encoded) == decoded)
    }

    @Test(arguments: [("", ""), ("aZ09-._~", "aZ09-._~"), ("a b", "a%20b"), ("ä/&=>\"", "%C3%A4%2F%26%3D%3E%22")])
    func `what means something else in a query is encoded`(decoded: String, encoded: String) {
        #expect(PercentEncoding.encode(decoded) == encoded)
        #expect(PercentEncoding.decode(encoded) == decoded)
    }

    @Test(arguments: [
        "%", "%4", "%4g", "%g4", "%%41", "a%", "a%2", "%c3", "%c3%28", "%ff", "%ed%a0%80", "%c0%80", "%+1", "% 1",
        "%٠٠", "%é0",
    ])
    func `what is not percent-encoded UTF-8 is not decoded`(encoded: String) {
        #expect(PercentEncoding.decode(encoded) == nil)
    }

    @Test(arguments: [
        ("/a/b", "/a/b"), ("/%73tart", "/start"), ("/%7e%2D%2e%5F", "/~-._"), ("/a%2Fb%25%2541", "/a%2Fb%25%2541"),
        ("/%c3%a4", "/%c3%a4"), ("/%", "/%"), ("/%4", "/%4"), ("/a%zz", "/a%zz"), ("http://x:1/a/%62?", "/a/b?"),
        ("HTTPS://x", "/"), ("*", "*"), ("//a", "//a"),
    ])
    func `the same path is found however it is written`(target: String, path: String) {
        #expect(PercentEncoding.path(ofTarget: target) == path)
    }

    @Test(arguments: Seeds.first(20, atNight: 200))
    func `what Foundation encodes is decoded`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<100 {
            let scalars = (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0...(random.isOnce(in: 3) ? 0x10_ffff : 0x7f), using: &random))
            }
            let text = String(String.UnicodeScalarView(scalars))
            let encoded = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
            #expect(PercentEncoding.decode(encoded ?? "%") == text, "seed \(seed)")
        }
    }
}
