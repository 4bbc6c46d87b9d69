import ArbiterEngine
import Foundation
import Logging
import Testing
import Yams

@testable import ArbiterCore
@testable import ArbiterHTTP

/// openapi.yaml, held to the code that it describes.
struct OpenAPITests {
    private let text: String
    private let document: Node
    private let routes: [Route]
    private let router: Router

    init() throws {
        text = try String(contentsOf: Self.file, encoding: .utf8)
        document = try #require(try Yams.compose(yaml: text))
        let engine = try Engine(journal: MemoryJournal(keepsRecords: false))
        let hub = EventHub()
        routes = Route.all(engine: engine, hub: hub, scenes: SceneReader(engine))
        router = Router(engine: engine, hub: hub, logger: Logger(label: "OpenAPITests"))
    }

    // MARK: Routes

    @Test func `every route is described`() {
        let described = Set(operations.map(\.name))
        for route in routes {
            #expect(described.contains(route.name), "\(route.name) is not in openapi.yaml")
        }
    }

    @Test func `everything that is described has a route`() {
        let served = Set(routes.map(\.name))
        for operation in operations {
            #expect(served.contains(operation.name), "\(operation.name) is in openapi.yaml, and no route")
        }
    }

    @Test func `routes and descriptions stand in the same order`() {
        #expect(operations.map(\.name) == routes.map(\.name))
    }

    @Test func `every route serves what its description says it serves`() throws {
        let operations = Dictionary(uniqueKeysWithValues: operations.map { ($0.name, $0) })
        for route in routes {
            for (status, response) in try #require(operations[route.name]).responses where status < 300 {
                #expect(response["content"]?.keys == route.contentType.map { [$0] }, "\(route.name) \(status)")
            }
        }
    }

    // MARK: Problems

    @Test func `every code of a problem is described, and no other`() throws {
        let described = try #require(schema("Problem")["properties"]?["code"]?["enum"]?.strings)
        #expect(described == Problem.Code.allCases.map(\.rawValue))
    }

    @Test func `every status of a problem is described, and no other`() throws {
        let described = try #require(schema("Problem")["properties"]?["status"]?["enum"]?.integers)
        #expect(described == Set(Problem.Code.allCases.map(\.status)).sorted())
    }

    @Test func `every code of a problem comes under its own status`() throws {
        var seen: Set<String> = []
        for operation in operations {
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

    // MARK: Words and limits

    @Test func `every word that is described is one that is understood, and no other`() {
        #expect(schema("TransitionState")["enum"]?.strings == TransitionState.allCases.map(\.rawValue))
        #expect(schema("Milestone")["enum"]?.strings == Milestone.allCases.map(\.rawValue))
        #expect(schema("EndOutcome")["enum"]?.strings == EndOutcome.allCases.map(\.rawValue))
        #expect(schema("ExpiryAction")["enum"]?.strings == ExpiryAction.allCases.map(\.rawValue))
        #expect(schema("Condition")["enum"]?.strings == ArbiterCore.Expectation.Condition.allCases.map(\.rawValue))
        #expect(schema("AnimationCurve")["enum"]?.strings == AnimationCurve.allCases.map(\.rawValue))
        #expect(schema("AnimationDirection")["enum"]?.strings == AnimationDirection.allCases.map(\.rawValue))
        let appearance = schema("AppearanceEvent")["properties"]?["event"]?["enum"]
        #expect(appearance?.strings == AppearanceEvent.Change.allCases.map(\.rawValue))
    }

    @Test func `every word of a hierarchy that is described is one that is understood, and no other`() throws {
        #expect(schema("ControllerKind")["enum"]?.strings == ControllerKind.allCases.map(\.rawValue))
        #expect(schema("PresentationStyle")["enum"]?.strings == PresentationStyle.allCases.map(\.rawValue))
        #expect(schema("Segue")["properties"]?["kind"]?["enum"]?.strings == Segue.Kind.allCases.map(\.rawValue))
        let scopes = Storyboard.DefaultScope.allCases.map(\.rawValue)
        #expect(schema("Defaults")["properties"]?["scope"]?["enum"]?.strings == scopes)
        #expect(schema("Scope")["oneOf"]?[0]?["enum"]?.strings == scopes)
        let operations = try #require(schema("Operation")["discriminator"]?["mapping"]?.members)
        #expect(operations.map(\.0) == OperationType.allCases.map(\.rawValue))
        for (type, reference) in operations {
            #expect(resolved(["$ref": reference])["properties"]?["type"]?["const"]?.string == type)
        }
        let kinds = ["ViewNode", "NavigationNode", "TabsNode", "SplitNode"].map { name in
            schema(name)["properties"]?["kind"]?["const"]?.string
        }
        #expect(kinds == ControllerKind.allCases.map(\.rawValue))
    }

    @Test func `every reason and code of an end is described, and no other`() throws {
        let ended = try #require(schema("EndedTransition")["allOf"]?[2]?["properties"])
        let refusal = OperationRefusal(code: .notOnStack, detail: "")
        let failure = FailedExpectation(expectation: .revision(Revision(rawValue: 0)), actual: "")
        let controller = try #require(ControllerID("a"))
        let rejections: [Rejection] = [
            .expectationFailed(failure), .invalidOperation(refusal), .scopeGone(controller),
        ]
        #expect(ended["reason"]?["enum"]?.strings == ExpiryReason.allCases.map(\.rawValue) + rejections.map(\.reason))
        let codes = [Problem.Code.expectationFailed.rawValue] + OperationRefusal.Code.allCases.map(\.rawValue)
        #expect(ended["code"]?["enum"]?.strings == codes)
        let outcomes: [TransitionOutcome] = [
            .completed, .cancelled, .expired(.lease), .rejected(.invalidOperation(refusal)),
        ]
        #expect(ended["outcome"]?["enum"]?.strings == outcomes.map(\.name))
    }

    @Test(arguments: [
        ("LeaseSeconds", Limits.leaseDurations),
        ("TicketSeconds", Limits.ticketDurations),
        ("QueueSeconds", Limits.queueDurations),
        ("WaitSeconds", Limits.waitDurations),
        ("AnimationSeconds", Limits.animationDurations),
    ])
    func `the limits of durations are described as they are`(name: String, range: ClosedRange<Duration>) throws {
        let described = schema(name)
        #expect(try #require(described["minimum"]?.seconds) == range.lowerBound)
        #expect(try #require(described["maximum"]?.seconds) == range.upperBound)
    }

    @Test(arguments: ["StartRequest", "SerializeRequest"])
    func `the defaults of durations are described as they are`(request: String) throws {
        let properties = try #require(schema(request)["properties"])
        #expect(properties["leaseSeconds"]?["default"]?.seconds == Limits.defaultLease)
        #expect(properties["ticketSeconds"]?["default"]?.seconds == Limits.defaultTicket)
        #expect(schema("AwaitRequest")["properties"]?["wait"]?["default"]?.seconds == Limits.defaultAwait)
        let defaults = try #require(schema("Defaults")["properties"])
        #expect(defaults["duration"]?["default"]?.seconds == Limits.defaultAnimation)
        #expect(defaults["leaseSeconds"]?["default"]?.seconds == Limits.defaultLease)
    }

    @Test func `the limits of names are described as they are`() {
        #expect(schema("SceneName")["maxLength"]?.int == Limits.sceneNameBytes)
        #expect(schema("ClientName")["maxLength"]?.int == Limits.clientNameBytes)
        #expect(schema("ControllerID")["maxLength"]?.int == Limits.controllerIDBytes)
        #expect(schema("TransitionTypeName")["maxLength"]?.int == Limits.transitionTypeBytes)
        #expect(schema("SegueIdentifier")["maxLength"]?.int == Limits.segueIdentifierBytes)
    }

    @Test func `the limits of lists are described as they are`() {
        #expect(schema("Scope")["oneOf"]?[1]?["maxItems"]?.int == Limits.scopeControllers)
        #expect(schema("Expectations")["oneOf"]?[1]?["maxItems"]?.int == Limits.expectations)
        let record = schema("TransitionRecord")["properties"]
        #expect(record?["expect"]?["maxItems"]?.int == Limits.expectations)
        let storyboard = schema("Storyboard")["properties"]
        #expect(storyboard?["segues"]?["maxItems"]?.int == Limits.segues)
        #expect(storyboard?["transitionTypes"]?["maxItems"]?.int == Limits.transitionTypes)
        for name in ["NavigationNode", "TabsNode"] {
            #expect(schema(name)["properties"]?["children"]?["maxItems"]?.int == Limits.controllers)
        }
        let stack = schema("SetStackOperation")["properties"]?["controllers"]
        #expect(stack?["maxItems"]?.int == Limits.controllers)
        #expect(schema("TabsNode")["properties"]?["selected"]?["maximum"]?.int == Limits.controllers - 1)
    }

    @Test func `the limits that stand in a text are those that there are`() {
        #expect(schema("CompletionSpeed")["maximum"]?.float == Limits.completionSpeeds.upperBound)
        #expect(text.contains("of \(grouped(Limits.userInfoBytes)) bytes and 64 levels at most"))
        #expect(text.contains("a body may have \(grouped(ServerLimits.bodyBytes)) bytes"))
        #expect(text.contains("a storyboard may have \(grouped(ServerLimits.storyboardBytes)) bytes"))
        let closing = ServerLimits.storyboardBytes + ServerLimits.discardedBytes
        #expect(text.contains("Of more than \(grouped(closing)) that come in chunks"))
        #expect(text.contains("more than \(ServerLimits.largeBodies) send bodies of more than 64 KiB"))
    }

    private func grouped(_ number: Int) -> String {
        number.formatted(.number.locale(Locale(identifier: "en_US")))
    }

    // MARK: The document as it is served

    @Test func `the document that is served is the file`() throws {
        let served = try #require(answer(to: "/openapi.yaml"))
        #expect(served.status == 200)
        #expect(served.contentType == .yaml)
        #expect(String(decoding: served.body, as: UTF8.self) == text)
    }

    @Test func `the document in JSON says the same as the file`() throws {
        let served = try #require(answer(to: "/openapi.json"))
        #expect(served.status == 200)
        #expect(served.contentType == .json)
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(served.body)) }
        // JSON is YAML too, so that one parser can compare them.
        #expect(try Yams.compose(yaml: String(decoding: served.body, as: UTF8.self)) == document)
    }
}

// MARK: - Reading the document

extension OpenAPITests {
    private static let file = URL(filePath: #filePath).appending(path: "../../../openapi.yaml").standardized

    private struct Operation {
        let name: String
        /// By status, references resolved.
        let responses: [(status: Int, response: Node)]
    }

    private var operations: [Operation] {
        document["paths"]?.members.flatMap { path, item in
            item.members.filter { method, _ in method != "parameters" }.map { method, operation in
                let responses = operation["responses"]?.members.map { status, response in
                    (status: Int(status) ?? 0, response: resolved(response))
                }
                return Operation(name: "\(method.uppercased()) \(path)", responses: responses ?? [])
            }
        } ?? []
    }

    private func schema(_ name: String) -> Node {
        document["components"]?["schemas"]?[name] ?? [:]
    }

    private func resolved(_ node: Node) -> Node {
        guard let reference = node["$ref"]?.string else { return node }
        return reference.split(separator: "/").dropFirst().reduce(document) { $0[String($1)] ?? [:] }
    }

    private func answer(to path: String) -> Response? {
        let exchange = RecordingExchange()
        router.handle(Request(method: "GET", path: path, headers: DictionaryHeaders(fields: [:])), exchange)
        return exchange.responses.first
    }
}

extension Route {
    fileprivate var name: String { "\(method) \(template)" }
}

extension Node {
    fileprivate var members: [(String, Node)] { mapping?.map { ($0.string ?? "", $1) } ?? [] }
    fileprivate var keys: [String] { members.map { name, _ in name } }
    fileprivate var strings: [String]? { sequence?.compactMap(\.string) }
    fileprivate var integers: [Int]? { sequence?.compactMap(\.int) }
    fileprivate var seconds: Duration? { float.map { .milliseconds(Int64(($0 * 1000).rounded())) } }
}
