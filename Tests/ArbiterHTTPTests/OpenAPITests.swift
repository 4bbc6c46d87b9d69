import ArbiterEngine
import Foundation
import Logging
import Testing
import Yams

@testable import ArbiterCore
@testable import ArbiterHTTP

/// openapi.yaml, held to the code that it describes.
struct OpenAPITests {
    private let document: OpenAPIDocument
    private let routes: [Route]
    private let router: Router

    init() throws {
        document = try OpenAPIDocument()
        let engine = try Engine(journal: MemoryJournal(keepsRecords: false))
        let hub = EventHub()
        routes = Route.all(engine: engine, hub: hub, scenes: SceneReader(engine))
        router = Router(engine: engine, hub: hub, logger: Logger(label: "OpenAPITests"))
    }

    // MARK: Routes

    @Test func `every route is described`() {
        let described = Set(document.operations.map(\.name))
        for route in routes {
            #expect(described.contains(route.name), "\(route.name) is not in openapi.yaml")
        }
    }

    @Test func `everything that is described has a route`() {
        let served = Set(routes.map(\.name))
        for operation in document.operations {
            #expect(served.contains(operation.name), "\(operation.name) is in openapi.yaml, and no route")
        }
    }

    @Test func `routes and descriptions stand in the same order`() {
        #expect(document.operations.map(\.name) == routes.map(\.name))
    }

    @Test func `every route serves what its description says it serves`() throws {
        let operations = Dictionary(uniqueKeysWithValues: document.operations.map { ($0.name, $0) })
        for route in routes {
            for (status, response) in try #require(operations[route.name]).responses where status < 300 {
                #expect(response["content"]?.keys == route.contentType.map { [$0] }, "\(route.name) \(status)")
            }
        }
    }

    // MARK: Problems

    @Test func `every code of a problem is described, and no other`() throws {
        let described = try #require(document.schema("Problem")["properties"]?["code"]?["enum"]?.strings)
        #expect(described == Problem.Code.allCases.map(\.rawValue))
    }

    @Test func `every status of a problem is described, and no other`() throws {
        let described = try #require(document.schema("Problem")["properties"]?["status"]?["enum"]?.integers)
        #expect(described == Set(Problem.Code.allCases.map(\.status)).sorted())
    }

    @Test func `every code of a problem comes under its own status`() throws {
        var seen: Set<String> = []
        for operation in document.operations {
            for (status, response) in operation.responses where status >= 400 {
                let schema = response["content"]?["application/problem+json"]?["schema"]
                #expect(schema?["$ref"]?.string == "#/components/schemas/Problem", "\(operation.name) \(status)")
                #expect(schema?["properties"]?["status"]?["const"]?.int == status, "\(operation.name) \(status)")
                for code in try #require(schema?["properties"]?["code"]?["enum"]?.strings) {
                    #expect(Problem.Code(rawValue: code)?.status == status, "\(operation.name) \(status) \(code)")
                    seen.insert(code)
                }
            }
        }
        #expect(seen == Set(Problem.Code.allCases.map(\.rawValue)))
    }

    // MARK: The document as it is served

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
        // JSON is YAML too, so that one parser can compare them.
        #expect(try Yams.compose(yaml: String(decoding: served.body, as: UTF8.self)) == document.root)
    }

    private func answer(to path: String) -> Response? {
        let exchange = RecordingExchange()
        router.handle(
            Request(method: "GET", path: path, headers: DictionaryHeaders(fields: [.host: "localhost"])), exchange)
        return exchange.responses.first
    }
}

extension Route {
    fileprivate var name: String { "\(method) \(template)" }
}
