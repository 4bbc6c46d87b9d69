import ArbiterEngine
import ArbiterRelay
import ArbiterTestKit
import Foundation
import Logging
import Testing
import Yams

@testable import ArbiterCore
@testable import ArbiterHTTP

/// openapi.yaml, compared with the code that it describes.
struct OpenAPITests {
    private let document: OpenAPIDocument
    private let routes: [Route]
    private let router: Router

    init() throws {
        document = try OpenAPIDocument()
        let engine = try Engine(journal: MemoryJournal(keepsRecords: false))
        let hub = EventHub()
        router = Router(shards: Shards(only: engine), hub: hub, logger: Logger(label: "OpenAPITests"))
        routes = router.routes
    }

    // MARK: Routes

    @Test func `every route is described`() {
        let described = Set(document.operations.map(\.name))
        for route in routes {
            #expect(described.contains(route.target), "\(route.target) is not in openapi.yaml")
        }
    }

    @Test func `everything that is described has a route`() {
        let served = Set(routes.map(\.target))
        for operation in document.operations {
            #expect(served.contains(operation.name), "\(operation.name) is in openapi.yaml, and no route")
        }
    }

    @Test func `routes and descriptions stand in the same order`() {
        #expect(document.operations.map(\.name) == routes.map(\.target))
    }

    @Test func `every route is named as it is described`() {
        #expect(document.operations.map { $0.id ?? "" } == routes.map(\.name))
        #expect(Set(routes.map(\.name)).count == routes.count)
    }

    @Test func `every route needs the role that is described`() throws {
        let described = try #require(document.root["info"]?["description"]?.string)
        for (operation, route) in zip(document.operations, routes) {
            #expect(operation.role == route.role?.rawValue, "\(route.target)")
            if let role = route.role { #expect(described.contains("`\(role.rawValue)` to ")) }
        }
    }

    @Test func `every route takes the parameters of the query that are described`() {
        for (operation, route) in zip(document.operations, routes) {
            #expect(operation.query.sorted() == route.query.map(\.rawValue).sorted(), "\(route.target)")
        }
    }

    @Test func `every route serves what its description says it serves`() throws {
        let operations = Dictionary(uniqueKeysWithValues: document.operations.map { ($0.name, $0) })
        for route in routes {
            for (status, response) in try #require(operations[route.target]).responses where status < 300 {
                #expect(Set(response["content"]?.keys ?? []) == Set(route.contentTypes), "\(route.target) \(status)")
            }
        }
    }

    // MARK: Problems

    @Test func `every code of a problem is described, and no other`() throws {
        let described = try #require(document.schema("ProblemCode")["enum"]?.strings)
        #expect(described.count == Set(described).count)
        #expect(Set(described) == Set(Problem.Code.allCases.map(\.rawValue)))
    }

    @Test func `every status of a problem is described, and no other`() throws {
        let described = Set(document.operations.flatMap(\.responses).map(\.status)).filter { $0 >= 400 }
        #expect(described == Set(Problem.Code.allCases.flatMap(\.statuses)))
        let status = try #require(document.schema("Problem")["properties"]?["status"])
        let (least, greatest) = (try #require(status["minimum"]?.int), try #require(status["maximum"]?.int))
        #expect(described.allSatisfy { (least...greatest).contains($0) })
    }

    @Test func `every code of a problem comes under its own status`() throws {
        var seen: Set<String> = []
        for operation in document.operations {
            for (status, response) in operation.responses where status >= 400 {
                let schema = response["content"]?["application/problem+json"]?["schema"]
                #expect(schema == ["$ref": "#/components/schemas/Problem"], "\(operation.name) \(status)")
                let description = try #require(response["description"]?.string)
                for code in try #require(response["x-problem-codes"]?.strings) {
                    let statuses = Problem.Code(rawValue: code)?.statuses ?? []
                    #expect(statuses.contains(status), "\(operation.name) \(status) \(code)")
                    #expect(description.contains("`\(code)`"), "\(operation.name) \(status) \(code)")
                    seen.insert(code)
                }
            }
        }
        #expect(seen == Set(Problem.Code.allCases.map(\.rawValue)))
    }

    @Test func `every problem in an example has what belongs to its code`() {
        var seen: Set<String> = []
        document.root.walk(withExamples: true) { path, node in
            guard node["type"]?.string?.hasPrefix("urn:arbiter:problem:") == true else { return }
            let name = node["code"]?.string ?? ""
            let code = Problem.Code(rawValue: name)
            #expect(node["type"]?.string == "urn:arbiter:problem:\(name)", "\(path)")
            #expect(node["title"]?.string == code?.title, "\(path)")
            let status = node["status"]?.int
            #expect(status.map { code?.statuses.contains($0) == true } == true, "\(path)")
            seen.insert(name)
        }
        #expect(!seen.isEmpty)
    }

    @Test func `every operation says what it answers where it is not meant`() {
        for operation in document.operations {
            let codes = Set(operation.responses.flatMap { $0.response["x-problem-codes"]?.strings ?? [] })
            #expect(
                codes.isSuperset(of: ["misdirected-request", "foreign-origin", "invalid-field"]), "\(operation.name)")
        }
    }

    // MARK: What client generators need

    @Test func `an operation answers with the same schema whatever its success`() {
        for operation in document.operations {
            let schemas = operation.responses.filter { $0.status < 300 }
                .flatMap { $0.response["content"]?.members ?? [] }.compactMap { $1["schema"] }
            #expect(Set(schemas).count <= 1, "\(operation.name)")
        }
    }

    @Test func `nothing stands beside a reference, and nothing is a sum of others`() {
        document.root.walk { path, node in
            if node["$ref"] != nil { #expect(node.keys == ["$ref"], "\(path)") }
            #expect(node["allOf"] == nil, "\(path)")
            #expect(node["links"] == nil, "\(path)")
        }
    }

    @Test func `a value that is always the same is a word`() {
        document.root.walk { path, node in
            guard let constant = node["const"] else { return }
            #expect(constant.tag == Tag(.str), "\(path)")
        }
    }

    @Test func `every variant is a schema with a name and its title`() throws {
        var variants = 0
        for (name, schema) in document.schemas {
            for variant in schema["oneOf"]?.sequence ?? [] {
                let reference = try #require(variant["$ref"]?.string, "\(name)")
                let title = document.resolved(variant)["title"]?.string
                #expect(title.map { "#/components/schemas/\($0)" } == reference, "\(name)")
                variants += 1
            }
            if schema["oneOf"] != nil { #expect(schema["title"]?.string == name) }
        }
        #expect(variants > 0)
    }

    @Test func `a discriminator names every variant by its word`() throws {
        for name in ["GesturePolicy", "Controller", "Operation"] {
            let schema = document.schema(name)
            let property = try #require(schema["discriminator"]?["propertyName"]?.string, "\(name)")
            let mapping = try #require(schema["discriminator"]?["mapping"]?.members)
            #expect(mapping.map(\.1) == schema["oneOf"]?.sequence?.compactMap { $0["$ref"] }, "\(name)")
            for (word, reference) in mapping {
                let variant = document.resolved(["$ref": reference])
                #expect(variant["properties"]?[property]?["const"]?.string == word, "\(name) \(word)")
            }
        }
    }

    @Test func `whatever a schema needs has a name of its own`() {
        for (name, schema) in document.schemas {
            for (member, property) in schema["properties"]?.members ?? [] {
                for nested in [property, property["items"]].compactMap({ $0 }) {
                    #expect(nested["enum"] == nil, "\(name).\(member)")
                    #expect(nested["properties"] == nil, "\(name).\(member)")
                    #expect(nested["oneOf"] == nil, "\(name).\(member)")
                }
            }
        }
    }

    // MARK: The document as served

    @Test func `the document that is served is the file`() throws {
        let served = try #require(answer(to: "/openapi.yaml"))
        #expect(served.status == 200)
        #expect(served.contentType == .yaml)
        #expect(String(decoding: served.body, as: UTF8.self) == document.text)
    }

    @Test func `the document in JSON says the same as the file`() throws {
        let served = try #require(answer(to: "/openapi.json"))
        #expect(served.status == 200)
        #expect(served.contentType == .json)
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(served.body)) }
        // JSON is also YAML, so one parser can compare both.
        #expect(try Yams.compose(yaml: String(decoding: served.body, as: UTF8.self)) == document.root)
    }

    private func answer(to path: String) -> Response? {
        let exchange = RecordingExchange()
        router.handle(
            Request(method: "GET", path: path, headers: DictionaryHeaders(fields: [.host: "localhost"])), exchange)
        _ = eventually { router.longWork.count == 0 }
        return exchange.responses.first
    }
}

extension Route {
    fileprivate var target: String { "\(method) \(template)" }
}
