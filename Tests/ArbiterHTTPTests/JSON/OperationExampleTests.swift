import ArbiterTestKit
import Testing
import Yams

@testable import ArbiterCore
@testable import ArbiterHTTP

/// The operations as openapi.yaml shows them, which are those that can be read and written.
struct OperationExampleTests {
    private let document: OpenAPIDocument
    /// The schema of each operation, by its type.
    private let schemas: [String: Node]
    private let examples: [JSONValue]

    init() throws {
        let document = try OpenAPIDocument()
        let mapping = try #require(document.schema("Operation")["discriminator"]?["mapping"]?.members)
        self.document = document
        schemas = Dictionary(
            uniqueKeysWithValues: mapping.map { type, reference in (type, document.resolved(["$ref": reference])) })
        // The tests of the clients read them in this form, too.
        examples = document.text.matches(of: /(?m)^ +- (\{"type": .*\})$/).compactMap { JSONValue($0.1.utf8) }
    }

    private func operation(_ json: String) throws(Problem) -> ArbiterCore.Operation {
        try read(json, as: "operation") { field, reader throws(Problem) in try reader.operation(field) }
    }

    private func type(of example: JSONValue) -> String { example["type"].string ?? "" }

    @Test func `every operation has examples, which show every member`() {
        #expect(Set(examples.map(type)) == Set(OperationType.allCases.map(\.rawValue)))
        for (type, schema) in schemas {
            let own = examples.filter { $0["type"].string == type }
            #expect(own.count == schema["examples"]?.sequence?.count, "\(type)")
            #expect(own.reduce([]) { $0.union($1.names) } == Set(schema["properties"]?.keys ?? []), "\(type)")
        }
    }

    @Test func `every operation is read, and comes back as it was written`() throws {
        for example in examples {
            let operation = try operation(example.text)
            #expect(operation.type?.rawValue == type(of: example))
            let text = written { writer, name in writer.object(name) { $0.members(of: operation) } }
            #expect(try self.operation(text) == operation)
            #expect(JSONValue(text.utf8).map(\.withIDs) == example, "\(text)")
        }
    }

    @Test func `every operation names what is missing and what is not its own`() throws {
        let values = examples.reduce(JSONValue.object([:])) { $1.adding($0) }
        for example in examples {
            let schema = try #require(schemas[type(of: example)])
            for member in schema["required"]?.strings ?? [] {
                expect(example.without(member), refusedAs: .missingField, member)
            }
            for member in values.names.subtracting(schema["properties"]?.keys ?? []) {
                expect(example.adding(.object([member: values[member]])), refusedAs: .unknownField, member)
            }
        }
    }

    private func expect(_ value: JSONValue, refusedAs code: Problem.Code, _ member: String) {
        RefusedValue(value.text, code, "operation.\(member)").holds(as: "operation") { field, reader throws(Problem) in
            try reader.operation(field)
        }
    }

    @Test func `the summary of an operation has members that are described`() throws {
        let described = Set(try #require(document.schema("OperationSummary")["properties"]?.keys))
        for example in examples {
            let operation = try operation(example.text)
            let text = written { writer, name in
                writer.object(name) { $0.members(of: operation, bringing: ArrivalCounts(operation)) }
            }
            #expect(JSONValue(text.utf8)?.names.isSubset(of: described) == true, "\(text)")
        }
    }
}

extension JSONValue {
    /// With the id of each node in its place.
    fileprivate var withIDs: JSONValue {
        switch self {
        case .object(let members): members["id"] ?? .object(members.mapValues(\.withIDs))
        case .array(let elements): .array(elements.map(\.withIDs))
        case .null, .bool, .number, .string: self
        }
    }

    fileprivate func without(_ member: String) -> JSONValue {
        guard case .object(var members) = self else { return self }
        members[member] = nil
        return .object(members)
    }
}
