import ArbiterEngine
import ArbiterRelay
import Foundation
import Testing

@testable import ArbiterClient

/// Lists of several pages, and what errors say.
struct LookingTests {
    @Test func `a list is read page by page, until there are enough`() async throws {
        let transport = Pages()
        let arbiter = Arbiter(transport, token: nil, client: nil, patience: .zero, headers: [:])
        #expect(try await arbiter.transitions(client: "a&b", limit: 5) == [5, 6, 7, 8, 9])
        #expect(transport.asked == ["/transitions?limit=5&client=a%26b", "/transitions?after=6"])
        #expect(try await arbiter.transitions().count == 9)
        #expect(try await arbiter.scenes().map { $0["name"]?.string } == (1...9).map { "s\($0)" }.pages)
    }

    @Test func `what cannot be reached has an address, without a password`() async throws {
        for (url, address) in [
            ("http://me:secret@127.0.0.1:1/arbiter", "http://127.0.0.1:1/arbiter"), ("unix:/no/such", "unix:/no/such"),
        ] {
            let arbiter = Arbiter(url: try #require(URL(string: url)), patience: .zero)
            let error = await #expect(throws: ClientError.self) { try await arbiter.scene().read() }
            #expect("\(error ?? .closed)".hasPrefix("the daemon cannot be reached: GET /scenes/main at \(address): "))
            #expect(error?.localizedDescription == "\(error ?? .closed)")
        }
    }

    @Test func `a time that is negative is refused`() async throws {
        let scene = Arbiter(Pages(), token: nil, client: nil, patience: .zero, headers: [:]).scene()
        for (quiet, timeout) in [(Duration.seconds(-1), nil), (.zero, Duration.seconds(-1))] {
            await #expect(throws: ClientError.self) { try await scene.untilIdle(quiet: quiet, timeout: timeout) }
        }
    }
}

extension [String] {
    /// In the order of pages of three of which each is before the last one.
    fileprivate var pages: [String] { Array(self[6...] + self[3..<6] + self[..<3]) }
}

/// A daemon with nine transitions and nine scenes, of which three are on a page.
private final class Pages: WireTransport {
    let address = "nowhere"
    let misuse: Refusal? = nil
    private let paths = Guarded<[String]>([])

    var asked: [String] { paths.withLock { $0 } }

    func send(_ request: WireRequest) async throws -> WireAnswer {
        paths.withLock { $0.append(request.path) }
        let parts = request.path.split(separator: "?")
        let last = parts.last.flatMap { $0.hasPrefix("after=") ? Int($0.dropFirst(6)) : nil } ?? 9
        let page = (last - 2...last).map { JSONValue.number(Double($0)) }
        return WireAnswer(
            status: 200,
            document: [
                "transitions": .array(page),
                "scenes": .array((last - 2...last).map { ["name": .string("s\($0)")] }),
            ],
            retryAfter: .zero, date: nil, link: last > 3 ? "<\(parts[0])?after=\(last - 3)>; rel=\"next\"" : nil,
            sent: .now)
    }

    func lines(of request: WireRequest) -> AsyncThrowingStream<String, any Error> {
        LineSink.makeStream(limit: 1).stream
    }
}
