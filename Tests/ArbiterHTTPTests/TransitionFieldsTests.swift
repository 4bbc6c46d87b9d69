import ArbiterCore
import Testing

@testable import ArbiterHTTP

/// The syntax and the range of numbers of seconds.
struct TransitionFieldsTests {
    @Test(arguments: [
        ("0", Duration.zero), ("-0", .zero), ("0.25", .milliseconds(250)), ("1e1", .seconds(10)),
        ("120", .seconds(120)),
    ])
    func `a wait in the query or a header is read as JSON reads a number`(text: String, wait: Duration) throws {
        #expect(try Wait.parsed(text, field: "wait") == wait)
    }

    @Test(arguments: ["", " 5", "5 ", "+5", "05", ".5", "5.", "0x10", "1_0", "five", "nan", "inf", "1e999"])
    func `a wait that is no number in JSON is refused`(text: String) {
        let problem = #expect(throws: Problem.self) { try Wait.parsed(text, field: "wait") }
        #expect(problem?.code == .invalidField)
        #expect(problem?.field == "wait")
    }

    @Test(arguments: ["-1", "-1.175494351e-38", "120.00000000001", "121"])
    func `a wait just beyond its limits is not rounded into them`(text: String) {
        #expect(throws: Problem.self) { try Wait.parsed(text, field: "wait") }
    }

    @Test func `a lease has its least length and its greatest, and none beyond`() throws {
        for seconds in [0.1, 300] {
            #expect(try Duration(seconds: seconds, field: "leaseSeconds", in: Limits.leaseDurations) > .zero)
        }
        for seconds in [0.099999999999, 300.000000001, -Double.infinity, .infinity, .nan] {
            #expect(throws: Problem.self) {
                try Duration(seconds: seconds, field: "leaseSeconds", in: Limits.leaseDurations)
            }
        }
    }
}
