import Foundation
import Testing
import Yams

/// openapi.yaml, as a tree.
struct OpenAPIDocument {
    let text: String
    let root: Node

    private static let file = URL(filePath: #filePath).appending(path: "../../../../openapi.yaml").standardized

    init() throws {
        text = try String(contentsOf: Self.file, encoding: .utf8)
        root = try #require(try Yams.compose(yaml: text))
    }

    struct Operation {
        let name: String
        let id: String?
        let role: String?
        /// The names of the parameters in the query, those that the path has for all its operations included.
        let query: [String]
        /// By status, references resolved.
        let responses: [(status: Int, response: Node)]
    }

    /// Every operation, in the order of the document.
    var operations: [Operation] {
        root["paths"]?.members.flatMap { path, item in
            item.members.filter { method, _ in method != "parameters" }.map { method, operation in
                let parameters = [item, operation].flatMap { $0["parameters"]?.sequence ?? [] }.map(resolved)
                let responses = operation["responses"]?.members.map { status, response in
                    (status: Int(status) ?? 0, response: resolved(response))
                }
                return Operation(
                    name: "\(method.uppercased()) \(path)", id: operation["operationId"]?.string,
                    role: operation["x-role"]?.string,
                    query: parameters.filter { $0["in"]?.string == "query" }.compactMap { $0["name"]?.string },
                    responses: responses ?? [])
            }
        } ?? []
    }

    /// Every schema that has a name.
    var schemas: [(String, Node)] { root["components"]?["schemas"]?.members ?? [] }

    /// A schema by its name; an empty one where there is none.
    func schema(_ name: String) -> Node {
        root["components"]?["schemas"]?[name] ?? [:]
    }

    /// What a reference stands for, and anything else as it is.
    func resolved(_ node: Node) -> Node {
        guard let reference = node["$ref"]?.string else { return node }
        return reference.split(separator: "/").dropFirst().reduce(root) { $0[String($1)] ?? [:] }
    }
}

extension Node {
    var members: [(String, Node)] { mapping?.map { ($0.string ?? "", $1) } ?? [] }
    var keys: [String] { members.map { name, _ in name } }

    /// Visits every mapping below, outermost first, with the way to it; examples are data, and left out unless asked for.
    func walk(_ path: String = "", withExamples: Bool = false, _ visit: (_ path: String, _ node: Node) -> Void) {
        if mapping != nil { visit(path, self) }
        for (name, node) in members where withExamples || !["example", "examples"].contains(name) {
            node.walk("\(path)/\(name)", withExamples: withExamples, visit)
        }
        for (index, node) in (sequence ?? []).enumerated() {
            node.walk("\(path)/\(index)", withExamples: withExamples, visit)
        }
    }
    var strings: [String]? { sequence?.compactMap(\.string) }
    var seconds: Duration? { float.map { .milliseconds(Int64(($0 * 1000).rounded())) } }
}
