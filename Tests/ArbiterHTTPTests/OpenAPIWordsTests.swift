import Foundation
import Testing
import Yams

@testable import ArbiterCore
@testable import ArbiterHTTP

/// The words and limits of openapi.yaml, held to those of the code.
struct OpenAPIWordsTests {
    private let document: OpenAPIDocument

    init() throws {
        document = try OpenAPIDocument()
    }

    // MARK: Words

    @Test func `every word that is described is one that is understood, and no other`() {
        #expect(document.schema("TransitionState")["enum"]?.strings == TransitionState.allCases.map(\.rawValue))
        #expect(document.schema("Milestone")["enum"]?.strings == Milestone.allCases.map(\.rawValue))
        #expect(document.schema("EndOutcome")["enum"]?.strings == EndOutcome.allCases.map(\.rawValue))
        #expect(document.schema("ExpiryAction")["enum"]?.strings == ExpiryAction.allCases.map(\.rawValue))
        #expect(
            document.schema("Condition")["enum"]?.strings == ArbiterCore.Expectation.Condition.allCases.map(\.rawValue))
        #expect(document.schema("AnimationCurve")["enum"]?.strings == AnimationCurve.allCases.map(\.rawValue))
        #expect(document.schema("AnimationDirection")["enum"]?.strings == AnimationDirection.allCases.map(\.rawValue))
        let appearance = document.schema("AppearanceEvent")["properties"]?["event"]?["enum"]
        #expect(appearance?.strings == AppearanceEvent.Change.allCases.map(\.rawValue))
    }

    @Test func `every word of gestures and company that is described is one that is understood, and no other`() throws {
        #expect(document.schema("GestureDecision")["enum"]?.strings == GestureDecision.allCases.map(\.rawValue))
        #expect(document.schema("UnreadyAction")["enum"]?.strings == UnreadyAction.allCases.map(\.rawValue))
        let policies = document.schema("GesturePolicy")["oneOf"]?.sequence?.compactMap {
            $0["properties"]?["by"]?["const"]?.string
        }
        #expect(policies == GesturePolicyKind.allCases.map(\.rawValue))
        let threshold = document.schema("GesturePolicy")["oneOf"]?[0]?["properties"]?["threshold"]?["default"]?.float
        #expect(threshold.map { .fraction(threshold: $0) } == GesturePolicy.standard)
        let keep = document.schema("Coalescing")["properties"]?["keep"]?["enum"]
        #expect(keep?.strings == Coalescing.Keep.allCases.map(\.rawValue))
        let participant = document.schema("Participant")["properties"]?["state"]?["enum"]
        #expect(participant?.strings == Participant.State.allCases.map(\.rawValue))
        let phases = document.schema("Interaction")["properties"]?["phase"]?["enum"]
        #expect(phases?.strings == InteractionPhase.allCases.map(\.rawValue))
    }

    @Test func `every event is described by its name`() throws {
        let description = try #require(
            document.root["paths"]?["/scenes/{scene}/events"]?["get"]?["description"]?.string)
        let names =
            SceneEvent.Stage.allCases.map { "transition.\($0.rawValue)" }
            + AppearanceEvent.Change.allCases.map { "controller.\($0.rawValue)" }
            + ["transition.progress", "hierarchy.changed", "session.ended", "reset"]
        for name in names { #expect(description.contains("`\(name)`"), "\(name)") }
        for ending in SessionEnding.allCases { #expect(description.contains("`\(ending.rawValue)`")) }
    }

    @Test func `every word of a hierarchy that is described is one that is understood, and no other`() throws {
        #expect(document.schema("ControllerKind")["enum"]?.strings == ControllerKind.allCases.map(\.rawValue))
        #expect(document.schema("PresentationStyle")["enum"]?.strings == PresentationStyle.allCases.map(\.rawValue))
        #expect(
            document.schema("Segue")["properties"]?["kind"]?["enum"]?.strings == Segue.Kind.allCases.map(\.rawValue))
        let scopes = Storyboard.DefaultScope.allCases.map(\.rawValue)
        #expect(document.schema("Defaults")["properties"]?["scope"]?["enum"]?.strings == scopes)
        #expect(document.schema("Scope")["oneOf"]?[0]?["enum"]?.strings == scopes)
        let operations = try #require(document.schema("Operation")["discriminator"]?["mapping"]?.members)
        #expect(operations.map(\.0) == OperationType.allCases.map(\.rawValue))
        for (type, reference) in operations {
            #expect(document.resolved(["$ref": reference])["properties"]?["type"]?["const"]?.string == type)
        }
        let kinds = ["ViewNode", "NavigationNode", "TabsNode", "SplitNode"].map { name in
            document.schema(name)["properties"]?["kind"]?["const"]?.string
        }
        #expect(kinds == ControllerKind.allCases.map(\.rawValue))
    }

    @Test func `every reason and code of an end is described, and no other`() throws {
        let ended = try #require(document.schema("EndedTransition")["allOf"]?[2]?["properties"])
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
            .superseded(by: TransitionID(rawValue: 1)), .revoked(try #require(RevocationReason("x"))),
        ]
        #expect(ended["outcome"]?["enum"]?.strings == outcomes.map(\.name))
    }

    // MARK: Limits

    @Test(arguments: [
        ("LeaseSeconds", Limits.leaseDurations),
        ("TicketSeconds", Limits.ticketDurations),
        ("QueueSeconds", Limits.queueDurations),
        ("WaitSeconds", Limits.waitDurations),
        ("AnimationSeconds", Limits.animationDurations),
        ("ReadySeconds", Limits.readyDurations),
        ("SessionSeconds", Limits.sessionDurations),
    ])
    func `the limits of durations are described as they are`(name: String, range: ClosedRange<Duration>) throws {
        let described = document.schema(name)
        #expect(try #require(described["minimum"]?.seconds) == range.lowerBound)
        #expect(try #require(described["maximum"]?.seconds) == range.upperBound)
    }

    @Test(arguments: ["StartRequest", "SerializeRequest"])
    func `the defaults of durations are described as they are`(request: String) throws {
        let properties = try #require(document.schema(request)["properties"])
        #expect(properties["leaseSeconds"]?["default"]?.seconds == Limits.defaultLease)
        #expect(properties["ticketSeconds"]?["default"]?.seconds == Limits.defaultTicket)
        #expect(document.schema("AwaitRequest")["properties"]?["wait"]?["default"]?.seconds == Limits.defaultAwait)
        #expect(properties["readySeconds"]?["default"]?.seconds == Limits.defaultReady)
        #expect(
            document.schema("SessionRequest")["properties"]?["ttlSeconds"]?["default"]?.seconds == Limits.defaultSession
        )
        let defaults = try #require(document.schema("Defaults")["properties"])
        #expect(defaults["duration"]?["default"]?.seconds == Limits.defaultAnimation)
        #expect(defaults["leaseSeconds"]?["default"]?.seconds == Limits.defaultLease)
    }

    @Test func `the limits of names are described as they are`() {
        #expect(document.schema("SceneName")["maxLength"]?.int == Limits.sceneNameBytes)
        #expect(document.schema("ClientName")["maxLength"]?.int == Limits.clientNameBytes)
        #expect(document.schema("ControllerID")["maxLength"]?.int == Limits.controllerIDBytes)
        #expect(document.schema("TransitionTypeName")["maxLength"]?.int == Limits.transitionTypeBytes)
        #expect(document.schema("SegueIdentifier")["maxLength"]?.int == Limits.segueIdentifierBytes)
        #expect(document.schema("CoalescingKey")["maxLength"]?.int == Limits.coalescingKeyBytes)
    }

    @Test func `the limits of lists are described as they are`() {
        #expect(document.schema("Scope")["oneOf"]?[1]?["maxItems"]?.int == Limits.scopeControllers)
        #expect(document.schema("Expectations")["oneOf"]?[1]?["maxItems"]?.int == Limits.expectations)
        let record = document.schema("TransitionRecord")["properties"]
        #expect(record?["expect"]?["maxItems"]?.int == Limits.expectations)
        for properties in [
            record, document.schema("StartRequest")["properties"], document.schema("SerializeRequest")["properties"],
        ] {
            #expect(properties?["participants"]?["maxItems"]?.int == Limits.participants)
        }
        #expect(record?["laggards"]?["maxItems"]?.int == Limits.participants)
        let storyboard = document.schema("Storyboard")["properties"]
        #expect(storyboard?["segues"]?["maxItems"]?.int == Limits.segues)
        #expect(storyboard?["transitionTypes"]?["maxItems"]?.int == Limits.transitionTypes)
        for name in ["NavigationNode", "TabsNode"] {
            #expect(document.schema(name)["properties"]?["children"]?["maxItems"]?.int == Limits.controllers)
        }
        let stack = document.schema("SetStackOperation")["properties"]?["controllers"]
        #expect(stack?["maxItems"]?.int == Limits.controllers)
        #expect(document.schema("TabsNode")["properties"]?["selected"]?["maximum"]?.int == Limits.controllers - 1)
    }

    @Test func `the limits that stand in a text are those that there are`() {
        #expect(document.schema("CompletionSpeed")["maximum"]?.float == Limits.completionSpeeds.upperBound)
        #expect(document.schema("CompletionSpeed")["minimum"]?.float == Limits.completionSpeeds.lowerBound)
        #expect(
            document.schema("ProgressRequest")["properties"]?["sequence"]?["maximum"]?.int
                == GestureEndpoints.greatestSequence)
        let slowest =
            Double(Limits.animationDurations.upperBound.components.seconds) / Limits.completionSpeeds.lowerBound
        #expect(document.schema("RemainingSeconds")["maximum"]?.float == slowest)
        #expect(document.text.contains("`too-many-sessions`: \(grouped(Limits().sessions)) are alive already"))
        #expect(
            document.text.contains("it has \(Limits().grace.components.seconds) seconds (`graceSeconds`) until it ends")
        )
        #expect(document.text.contains("of \(grouped(Limits.userInfoBytes)) bytes and 64 levels at most"))
        #expect(document.text.contains("a body may have \(grouped(ServerLimits.bodyBytes)) bytes"))
        #expect(document.text.contains("a storyboard may have \(grouped(ServerLimits.storyboardBytes)) bytes"))
        let closing = ServerLimits.storyboardBytes + ServerLimits.discardedBytes
        #expect(document.text.contains("Of more than \(grouped(closing)) that come in chunks"))
        #expect(document.text.contains("more than \(ServerLimits.largeBodies) send bodies of more than 64 KiB"))
    }

    private func grouped(_ number: Int) -> String {
        number.formatted(.number.locale(Locale(identifier: "en_US")))
    }
}
