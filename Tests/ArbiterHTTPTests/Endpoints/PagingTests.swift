import ArbiterCore
import Testing

@testable import ArbiterHTTP

/// Lists in pages, and the cost of a page.
struct PagingTests {
    private let service: Service

    init() throws {
        service = try Service()
    }

    /// The address of the next page.
    private func next(of answer: Answer) throws -> String? {
        let links = answer.headers("Link")
        guard let link = links.first else { return nil }
        #expect(links.count == 1)
        let end = #">; rel="next""#
        try #require(link.hasPrefix("<") && link.hasSuffix(end), "\(link)")
        return String(link.dropFirst().dropLast(end.count))
    }

    /// Follows the links to the last page.
    ///
    /// - Returns: every page, as the ids or names on it.
    private func follow(
        _ target: String, of list: String, by name: String, between: () throws -> Void = {}
    ) throws -> [[String]] {
        var pages: [[String]] = []
        var target: String? = target
        while let current = target {
            let answer = try service.ask("GET", current)
            try #require(answer.status == 200, "\(current)")
            pages.append(try #require(answer.body[list]).elements.compactMap { $0[name]?.text })
            target = try next(of: answer)
            if target != nil { try between() }
        }
        return pages
    }

    // MARK: Transitions

    @Test func `a client that follows the links sees every transition once, the newest page first`() throws {
        let ids = try (0..<250).map { _ in try service.serialized().id }
        let pages = try follow("/transitions", of: "transitions", by: "id")
        #expect(pages.map(\.count) == [100, 100, 50])
        #expect(pages.reversed().flatMap(\.self) == ids)
        let single = try follow("/transitions?limit=1000", of: "transitions", by: "id")
        #expect(single == [ids])
        let exact = try follow("/transitions?limit=125", of: "transitions", by: "id")
        #expect(exact.map(\.count) == [125, 125])
    }

    @Test func `what comes and goes between two pages makes none be left out or shown twice`() throws {
        var limits = Limits()
        limits.retainedCount = 0
        limits.retainedDuration = .zero
        let service = try Service(limits: limits)
        let owned = try (0..<30).map { try service.started(#"{"scene": "s\#($0)"}"#) }
        var answer = try service.ask("GET", "/transitions?limit=10")
        var seen: [String] = []
        var round = 0
        while true {
            seen = try #require(answer.body["transitions"]).elements.compactMap { $0["id"]?.text } + seen
            guard let target = try next(of: answer) else { break }
            // The transition at the end of the page has been forgotten, and others have been requested.
            try service.ended(owned[20 - 10 * round])
            try service.started(#"{"scene": "new\#(round)"}"#)
            round += 1
            answer = try service.ask("GET", target)
        }
        #expect(round == 2)
        #expect(seen == owned.map(\.id))
    }

    @Test func `a link repeats the filters, in a form that can be asked for`() throws {
        for _ in 0..<3 { try service.serialized(#"{"client": "ä b&c=\">"}"#) }
        try service.serialized(#"{"client": "other"}"#)
        let target = "/transitions?scene=main&state=queued&client=%C3%A4%20b%26c%3D%22%3E&limit=1"
        let answer = try service.ask("GET", target)
        let link = try #require(try next(of: answer))
        #expect(link.hasPrefix(target + "&after="))
        let pages = try follow(link, of: "transitions", by: "id")
        #expect(pages.map(\.count) == [1])
        // The first of them holds the lock.
        #expect(pages.first != answer.body["transitions"]?.elements.compactMap { $0["id"]?.text })
    }

    @Test func `a page of long transitions ends early`() throws {
        let clients = (0..<Limits.participants).map { #""\#(String(repeating: "c", count: 100))\#($0)""# }
        let body = #"{"participants": [\#(clients.joined(separator: ","))]}"#
        let ids = try (0..<60).map { _ in try service.serialized(body).id }
        let answer = try service.ask("GET", "/transitions?limit=1000")
        #expect(answer.response.body.count > ServerLimits.pageBytes)
        #expect(answer.response.body.count < 2 * ServerLimits.pageBytes)
        let pages = try follow("/transitions?limit=1000", of: "transitions", by: "id")
        #expect(pages.count > 1)
        #expect(pages.reversed().flatMap(\.self) == ids)
    }

    @Test(arguments: ["after=", "after=-1", "after=t-0000000000001", "after=1e3", "after=99999999999999999999"])
    func `a page that was never linked to is refused by name`(query: String) throws {
        let answer = try service.ask("GET", "/transitions?" + query)
        #expect(answer.status == 400)
        #expect(answer.code == "invalid-field")
        #expect(answer.field == "after")
    }

    @Test func `behind the last page there is nothing`() throws {
        try service.started()
        let answer = try service.ask("GET", "/transitions?after=0")
        #expect(answer.body == ["transitions": []])
        #expect(answer.headers("Link").isEmpty)
    }

    // MARK: Scenes

    @Test func `scenes are listed in pages, by name`() throws {
        let names = (0..<230).map { "s\($0)" }
        for name in names { try service.started(#"{"scene": "\#(name)"}"#) }
        let pages = try follow("/scenes", of: "scenes", by: "name") {
            try service.serialized(#"{"scene": "a"}"#)
        }
        #expect(pages.map(\.count) == [100, 100, 30])
        #expect(pages.flatMap(\.self) == names.sorted())
        let long = try follow("/scenes?limit=1000", of: "scenes", by: "name")
        #expect(long.map(\.count) == [231])
        #expect(try follow("/scenes?after=s98&limit=1", of: "scenes", by: "name") == [["s99"]])
    }

    @Test(arguments: [
        ("limit=0", "limit"), ("limit=1001", "limit"), ("limit=", "limit"), ("after=", "after"),
        ("after=a%2Fb", "after"),
    ])
    func `a page of scenes that cannot be is refused by name`(query: String, field: String) throws {
        let answer = try service.ask("GET", "/scenes?" + query)
        #expect(answer.status == 400)
        #expect(answer.code == "invalid-field")
        #expect(answer.field == field)
    }

    @Test func `a scene shows its counts, the first of its queue, and where the whole of it is`() throws {
        let children = (0..<120).map { #""c\#($0)""# }.joined(separator: ",")
        try service.declared(#"{"root": {"id": "tabs", "kind": "tabs", "children": [\#(children)]}}"#)
        let holders = try (0..<120).map { number in
            try service.started(#"{"scope": ["c\#(number)"]}"#).id
        }
        let tickets = try (0..<130).map { _ in try service.serialized().id }
        let answer = try service.ask("GET", "/scenes/main")
        #expect(answer.body["runningCount"] == 120)
        #expect(answer.body["queuedCount"] == 130)
        #expect(answer.body["running"]?.elements.compactMap { $0["id"]?.text } == Array(holders.prefix(100)))
        #expect(answer.body["queue"]?.elements.compactMap { $0["id"]?.text } == Array(tickets.prefix(100)))
        #expect(answer.headers("Link") == [#"</transitions?scene=main&state=queued>; rel="related""#])
        let pages = try follow("/transitions?scene=main&state=queued", of: "transitions", by: "id")
        #expect(pages.reversed().flatMap(\.self) == tickets)
    }
}
