import Testing

@testable import ArbiterHTTP

struct QueryTests {
    private func items(_ pairs: [(String, String)]) -> [QueryItem] {
        pairs.map { QueryItem(name: $0.0, value: $0.1) }
    }

    @Test func `parameters are decoded, and read by name`() throws {
        let query = try Query(items([("%77ait", "%31"), ("client", "a%20b")]), taking: [.wait, .client, .until])
        let text = { (text: String, field: String) throws(Problem) in "\(field)=\(text)" }
        #expect(try query.value(of: .wait, text) == "wait=1")
        #expect(try query.value(of: .client, text) == "client=a b")
        #expect(try query.value(of: .until, text) == nil)
    }

    @Test(
        arguments: [
            ([("x", "1")], .unknownField, "x"), ([("Wait", "1")], .unknownField, "Wait"),
            ([("until", "ended")], .unknownField, "until"), ([("", "")], .unknownField, ""),
            ([("wait", "1"), ("wait", "1")], .invalidField, "wait"),
            ([("wait", "1"), ("%77ait", "2")], .invalidField, "wait"),
            ([("wait", "%zz")], .invalidField, "wait"), ([("%ff", "1")], .invalidField, "%ff"),
            ([("x", "1"), ("wait", "%zz")], .unknownField, "x"),
        ] as [([(String, String)], Problem.Code, String)])
    func `a parameter that the route does not take, one given twice and one that is not encoded properly are refused`(
        pairs: [(String, String)], code: Problem.Code, field: String
    ) {
        let problem = #expect(throws: Problem.self) { try Query(items(pairs), taking: [.wait]) }
        #expect(problem?.code == code)
        #expect(problem?.field == field)
    }
}
