internal import Yams

/// `/openapi.yaml` and `/openapi.json`: the description of the API for machines.
enum Description {
    /// The document in YAML.
    static let document = Resources.file("openapi.yaml")

    @Sendable static func yaml(_ call: Call) throws(Problem) {
        call.respond(Response(200, .yaml, body: document))
    }

    @Sendable static func json(_ call: Call) throws(Problem) {
        call.asLongWork { call.respond(Response(200, .json, body: converted)) }
    }

    /// The document in JSON, converted at the first request, which takes a tenth of a second.
    private static let converted: [UInt8] = {
        guard let node = try? Yams.compose(yaml: String(decoding: document, as: UTF8.self)) else {
            preconditionFailure("the embedded openapi.yaml is not YAML")
        }
        var writer = JSONWriter(capacity: 2 * document.count)
        writer.value(node)
        writer.bytes.append(UInt8(ascii: "\n"))
        return writer.bytes
    }()
}

extension JSONWriter {
    /// Writes a YAML node, with the types of YAML's JSON schema.
    fileprivate mutating func value(_ node: Node) {
        switch node {
        case .mapping(let mapping):
            object { writer in
                for (key, value) in mapping { writer.member(named: key.string ?? "", writtenBy: { $0.value(value) }) }
            }
        case .sequence(let sequence):
            elements(Array(sequence)) { writer, element in writer.value(element) }
        case .scalar, .alias:
            // The resolved tag decides, so that a quoted "1.0" stays a string.
            switch node.tag {
            case Tag(.null): literal("null")
            case Tag(.bool): literal(node.bool == true ? "true" : "false")
            case Tag(.int): literal(String(node.int ?? 0))
            case Tag(.float): literal(String(node.float ?? 0))
            default: string(node.string ?? "")
            }
        }
    }
}
