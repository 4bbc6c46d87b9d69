import Foundation
import Testing

@testable import ArbiterHTTP

/// Reads a text as the one member of an object.
func read<Value>(
    _ json: String, as field: String = "x", _ value: (String, inout JSONReader) throws(Problem) -> Value
) throws(Problem) -> Value {
    var read: Value?
    try JSONReader.readObject(Array(#"{"\#(field)":\#(json)}"#.utf8)) { field, reader throws(Problem) in
        read = try value(field, &reader)
    }
    guard let read else { preconditionFailure("the member was not read: \(json)") }
    return read
}

/// What is written as the one member of an object.
func written(as field: StaticString = "x", _ write: (inout JSONWriter, StaticString) -> Void) -> String {
    let text = String(decoding: JSONWriter.object { write(&$0, field) }, as: UTF8.self)
    return String(text.dropFirst(#"{"\#(field)":"#.utf8.count).dropLast())
}

/// A value that must be refused, and how.
struct RefusedValue: Sendable, CustomTestStringConvertible {
    let json: String
    let code: Problem.Code
    let field: String?

    init(_ json: String, _ code: Problem.Code, _ field: String?) {
        self.json = json
        self.code = code
        self.field = field
    }

    var testDescription: String { "\(json.prefix(100)) → \(code.rawValue) \(field ?? "")" }

    /// Expects the refusal, in words that end as a sentence does.
    func holds<Value>(
        as field: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ value: (String, inout JSONReader) throws(Problem) -> Value
    ) {
        let problem = #expect(throws: Problem.self, sourceLocation: sourceLocation) {
            try read(json, as: field, value)
        }
        #expect(problem?.code == code, "\(problem?.detail ?? "")", sourceLocation: sourceLocation)
        #expect(problem?.field == self.field, "\(problem?.detail ?? "")", sourceLocation: sourceLocation)
        #expect(problem?.detail.hasSuffix(".") == true, sourceLocation: sourceLocation)
        if let problem { expectVerb(in: problem.detail, behind: problem.field, sourceLocation: sourceLocation) }
    }
}

/// Expects that a text which begins with a field goes on with a verb, as a sentence does.
func expectVerb(in detail: String, behind field: String?, sourceLocation: SourceLocation) {
    guard let field, case let subject = "The field \(quoted(field)) ", detail.hasPrefix(subject) else { return }
    let verb = detail.dropFirst(subject.count).prefix { $0 != " " }
    let verbs: Set<Substring> = ["must", "may", "can", "cannot", "is", "has", "names", "repeats"]
    #expect(verbs.contains(verb), "\(detail)", sourceLocation: sourceLocation)
}

/// Does something on a thread with a stack of half a megabyte, as libmicrohttpd's have.
func onSmallStack<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        let thread = Thread { continuation.resume(returning: work()) }
        thread.stackSize = 512 * 1024
        thread.start()
    }
}
