import Testing

@testable import ArbiterHTTP

struct ListTests {
    private let service: Service

    init() throws {
        service = try Service()
    }

    private func ids(_ query: String) throws -> [String] {
        let answer = try service.ask("GET", "/transitions" + query)
        #expect(answer.status == 200)
        return try #require(answer.body["transitions"]).elements.compactMap { $0["id"]?.text }
    }

    @Test func `nothing gives an empty list`() throws {
        #expect(try service.ask("GET", "/transitions").body == ["transitions": []])
    }

    @Test func `a list shows what fits, the newest last`() throws {
        let first = try service.started(#"{"client": "a b"}"#)
        let second = try service.serialized(#"{"client": "ä"}"#)
        let third = try service.started(#"{"scene": "tv", "client": "a b"}"#)
        try service.ask("POST", "/transitions/end", third.acting())
        let fourth = try service.started(#"{"scene": "hall", "participants": ["ä"]}"#)
        let (a, b, c, d) = (first.id, second.id, third.id, fourth.id)

        #expect(try ids("") == [a, b, c, d])
        #expect(try ids("?scene=main") == [a, b])
        #expect(try ids("?scene=tv") == [c])
        #expect(try ids("?scene=other") == [])
        #expect(try ids("?state=running") == [a])
        #expect(try ids("?state=preparing") == [d])
        #expect(try ids("?state=queued") == [b])
        #expect(try ids("?state=ended") == [c])
        #expect(try ids("?client=a%20b") == [a, c])
        #expect(try ids("?client=%c3%A4") == [b])
        #expect(try ids("?client=a%20b&scene=tv&state=ended&limit=1") == [c])
        #expect(try ids("?limit=2") == [c, d])
        #expect(try ids("?limit=1000") == [a, b, c, d])
    }

    @Test func `a list shows a hundred unless told otherwise`() throws {
        for number in 0..<120 { try service.started(#"{"scene": "s\#(number)"}"#) }
        #expect(try ids("").count == 100)
        #expect(try ids("?limit=110").count == 110)
        #expect(try ids("?limit=1000").count == 120)
    }

    @Test(arguments: [
        ("limit=0", "limit"), ("limit=1001", "limit"), ("limit=-1", "limit"), ("limit=ten", "limit"),
        ("limit=", "limit"), ("limit=1.5", "limit"), ("limit=99999999999999999999", "limit"),
        ("state=Preparing", "state"), ("state=Running", "state"), ("state=", "state"), ("scene=a/b", "scene"),
        ("scene=", "scene"), ("client=", "client"), ("client=%0a", "client"), ("limit=1&limit=1", "limit"),
        ("scene=a&sc%65ne=a", "scene"), ("client=%zz", "client"), ("client=%e4", "client"), ("client=%4", "client"),
        ("scen%=a", "scen%"),
    ])
    func `a filter that cannot be is refused by name`(query: String, field: String) throws {
        let answer = try service.ask("GET", "/transitions?" + query)
        #expect(answer.status == 400)
        #expect(answer.code == "invalid-field")
        #expect(answer.field == field)
    }

    @Test(arguments: [
        "/transitions?scenes=main", "/transitions?Scene=main", "/transitions?", "/scenes?x=1", "/scenes/main?x=1",
        "/livez?x=1", "/readyz?x=1", "/openapi.yaml?x=1", "/openapi.json?x=1", "/transitions/t-0000000000001?x=1",
    ])
    func `a parameter that nobody knows is refused by name`(target: String) throws {
        let answer = try service.ask("GET", target)
        guard !target.hasSuffix("?") else {
            #expect(answer.status == 200)
            return
        }
        #expect(answer.status == 400)
        #expect(answer.code == "unknown-field")
        #expect(answer.field?.isEmpty == false)
    }

    @Test(arguments: ["start", "end", "renew", "progress", "release"])
    func `a parameter where there is none to give is refused by name`(action: String) throws {
        let holder = try service.started(#"{"scene": "other"}"#)
        let body = action == "start" ? "{}" : holder.acting()
        let answer = try service.ask("POST", "/transitions/\(action)?wait=1", body)
        #expect(answer.status == 400)
        #expect(answer.code == "unknown-field")
        #expect(answer.field == "wait")
        #expect(try service.transitions().map { $0["state"] } == ["running"])
    }
}
