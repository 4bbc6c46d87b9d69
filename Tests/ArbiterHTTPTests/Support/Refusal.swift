import ArbiterEngine
import ArbiterRelay
import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// A body that must be refused, and how.
struct Refusal: Sendable, CustomTestStringConvertible {
    let bytes: [UInt8]
    let code: Problem.Code
    let field: String?

    init(_ body: String, _ code: Problem.Code, _ field: String? = nil) {
        self.init(Array(body.utf8), code, field)
    }

    init(_ bytes: [UInt8], _ code: Problem.Code, _ field: String? = nil) {
        self.bytes = bytes
        self.code = code
        self.field = field
    }

    var testDescription: String {
        let text = String(decoding: bytes.prefix(80), as: UTF8.self)
        return "\(text.debugDescription) → \(code.rawValue) \(field ?? "")"
    }

    /// Bodies with a value that the field cannot have.
    static func values(_ values: [String], for field: String, beside more: String = "") -> [Refusal] {
        values.map { Refusal(#"{\#(more)"\#(field)": \#($0)}"#, .invalidField, field) }
    }
}

extension Service {
    /// Sends the body and expects the refusal, and nothing changed.
    func refuses(_ refusal: Refusal, _ target: String) throws {
        let before = try journal.records()
        let exchange = send("POST", target, bytes: refusal.bytes)
        let answer = try exchange.answer()
        #expect(answer.status == 400)
        #expect(answer.code == refusal.code.rawValue)
        #expect(answer.field == refusal.field)
        expectVerb(in: answer.body["detail"]?.text ?? "", behind: refusal.field, sourceLocation: #_sourceLocation)
        #expect(exchange.reservations == 0)
        #expect(try journal.records() == before)
    }
}
