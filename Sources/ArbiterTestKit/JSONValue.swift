internal import Foundation

/// Any JSON value, written as literals and read by subscripts; a missing value is `null`.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// - Returns: `nil` if the text is not JSON.
    package init?(_ text: some Sequence<UInt8>) {
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text)) else { return nil }
        self = value
    }

    package subscript(_ name: String) -> JSONValue {
        if case .object(let members) = self { members[name] ?? .null } else { .null }
    }

    package subscript(_ index: Int) -> JSONValue {
        elements.indices.contains(index) ? elements[index] : .null
    }

    /// The elements of an array; empty for other values.
    package var elements: [JSONValue] {
        if case .array(let elements) = self { elements } else { [] }
    }

    /// The names of an object's members; empty for other values.
    package var names: Set<String> {
        if case .object(let members) = self { Set(members.keys) } else { [] }
    }

    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    package var number: Double? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The number, if it is an integer.
    package var integer: Int? { number.flatMap(Int.init(exactly:)) }

    /// The object with the members of another added, which take precedence.
    package func adding(_ other: JSONValue) -> JSONValue {
        guard case .object(let members) = self, case .object(let others) = other else { return other }
        return .object(members.merging(others) { $1 })
    }

    package var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else { preconditionFailure("cannot be written as JSON: \(self)") }
        return String(decoding: data, as: UTF8.self)
    }
}

extension JSONValue: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .number(Double(value)) }
    package init(floatLiteral value: Double) { self = .number(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral members: (String, JSONValue)...) {
        self = .object(Dictionary(members) { $1 })
    }
}

extension JSONValue: CustomStringConvertible {
    package var description: String { text }
}
