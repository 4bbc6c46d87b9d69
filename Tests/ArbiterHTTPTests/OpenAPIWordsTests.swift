import Foundation
import Testing
import Yams

@testable import ArbiterCore
@testable import ArbiterHTTP

/// The words and limits of openapi.yaml, compared with those of the code.
struct OpenAPIWordsTests {
    private let document: OpenAPIDocument

    init() throws {
        document = try OpenAPIDocument()
    }

    // MARK: Words

    @Test func `every word that is described is one that is understood, and no other`() {
        #expect(document.schema("TransitionState")["enum"]?.strings == TransitionState.allCases.map(\.rawValue))
        #expect(document.schema("SceneMilestone")["enum"]?.strings == SceneMilestone.allCases.map(\.rawValue))
        #expect(document.schema("DryRunReason")["enum"]?.strings == DryRunReason.allCases.map(\.rawValue))
        #expect(document.schema("Milestone")["enum"]?.strings == Milestone.allCases.map(\.rawValue))
        #expect(document.schema("EndOutcome")["enum"]?.strings == EndOutcome.allCases.map(\.rawValue))
        #expect(document.schema("ExpiryAction")["enum"]?.strings == ExpiryAction.allCases.map(\.rawValue))
        #expect(
            document.schema("Condition")["enum"]?.strings == ArbiterCore.Expectation.Condition.allCases.map(\.rawValue))
        #expect(document.schema("AnimationCurve")["enum"]?.strings == AnimationCurve.allCases.map(\.rawValue))
        #expect(document.schema("AnimationDirection")["enum"]?.strings == AnimationDirection.allCases.map(\.rawValue))
        #expect(document.schema("DefaultCurve")["enum"]?.strings == AnimationCurve.allCases.map(\.rawValue))
        let appearance = document.schema("AppearanceChange")["enum"]
        #expect(appearance?.strings == AppearanceEvent.Change.allCases.map(\.rawValue))
    }

    @Test func `every word of gestures and participants that is described is one that is understood, and no other`()
        throws
    {
        #expect(document.schema("GestureDecision")["enum"]?.strings == GestureDecision.allCases.map(\.rawValue))
        #expect(document.schema("UnreadyAction")["enum"]?.strings == UnreadyAction.allCases.map(\.rawValue))
        let policies = try #require(document.schema("GesturePolicy")["discriminator"]?["mapping"]?.keys)
        #expect(policies == GesturePolicyKind.allCases.map(\.rawValue))
        let threshold = document.schema("FractionPolicy")["properties"]?["threshold"]?["default"]?.float
        #expect(threshold.map { .fraction(threshold: $0) } == GesturePolicy.standard)
        #expect(document.schema("CoalescingKeep")["enum"]?.strings == Coalescing.Keep.allCases.map(\.rawValue))
        #expect(document.schema("ParticipantState")["enum"]?.strings == Participant.State.allCases.map(\.rawValue))
        #expect(document.schema("InteractionPhase")["enum"]?.strings == InteractionPhase.allCases.map(\.rawValue))
    }

    @Test(arguments: ["/scenes/{scene}/events", "/events"])
    func `every event has a schema, and is described by its name`(path: String) throws {
        let tag = try #require(document.root["tags"]?.sequence?.first { $0["name"]?.string == "scenes" })
        let description = try #require(tag["description"]?.string)
        let operation = try #require(document.operations.first { $0.name == "GET \(path)" })
        let success = try #require(operation.responses.first { $0.status == 200 }).response
        let stream = success["content"]?["text/event-stream"]
        let schemas = try #require(stream?["x-event-schemas"]?.members)
        let names =
            SceneEvent.Stage.allCases.map { "transition.\($0.rawValue)" }
            + AppearanceEvent.Change.allCases.map { "controller.\($0.rawValue)" }
            + ["transition.progress", "hierarchy.changed", "session.ended", "scene.deleted", "reset"]
            + (path == "/events" ? ["reset.end"] : [])
        #expect(Set(schemas.map(\.0)) == Set(names))
        let events = document.schema("Event")["oneOf"]?.sequence?.compactMap { $0["$ref"] } ?? []
        for (name, reference) in schemas {
            let title = try #require(document.resolved(["$ref": reference])["title"]?.string, "\(name)")
            #expect(description.contains("`\(name)`") && description.contains("`\(title)`"), "\(name)")
            #expect(events.contains(reference), "\(name)")
        }
        for ending in SessionEnding.allCases { #expect(description.contains("`\(ending.rawValue)`")) }
        #expect(document.schema("SessionEnding")["enum"]?.strings == SessionEnding.allCases.map(\.rawValue))
    }

    @Test func `an event shows the summary of a transition, without what is true for the moment only`() throws {
        let summary = try #require(document.schema("TransitionSummary")["properties"]?.members)
        let event = try #require(document.schema("TransitionEvent")["properties"]?.members)
        let own: Set = ["number", "at"]
        let lasting = summary.filter { !$0.0.hasSuffix("Remaining") }
        #expect(
            Dictionary(uniqueKeysWithValues: event.filter { !own.contains($0.0) })
                == Dictionary(uniqueKeysWithValues: lasting))
        #expect(own.isSubset(of: event.map(\.0)))
    }

    @Test func `the summary of a transition is the transition, but for what may be long or is shown to its owner`()
        throws
    {
        let whole = try #require(document.schema("Transition")["properties"]?.members)
        let summary = try #require(document.schema("TransitionSummary")["properties"]?.members)
        let ofOneAnswer: Set = ["token", "applied", "decision", "remaining"]
        let long: Set = ["operation", "operations", "resolved", "inserted", "removed", "appearance"]
        #expect(summary.map(\.0) == whole.map(\.0).filter { !ofOneAnswer.contains($0) })
        #expect(
            Dictionary(uniqueKeysWithValues: summary.filter { !long.contains($0.0) })
                == Dictionary(
                    uniqueKeysWithValues: whole.filter { !long.contains($0.0) && !ofOneAnswer.contains($0.0) }))
        for name in long.subtracting(["operation", "operations", "resolved"]) {
            let list = try #require(document.schema("TransitionSummary")["properties"]?[Node(name)])
            #expect(list["maxItems"]?.int == Limits.summarizedControllers)
            #expect(list["description"]?.string?.contains("more than \(Limits.summarizedControllers)") == true)
        }
    }

    @Test func `every word of a hierarchy that is described is one that is understood, and no other`() throws {
        #expect(document.schema("ControllerKind")["enum"]?.strings == ControllerKind.allCases.map(\.rawValue))
        #expect(document.schema("PresentationStyle")["enum"]?.strings == PresentationStyle.allCases.map(\.rawValue))
        #expect(
            document.schema("SegueKind")["enum"]?.strings == Segue.Kind.allCases.map(\.rawValue))
        let scopes = Storyboard.DefaultScope.allCases.map(\.rawValue)
        #expect(document.schema("DefaultScope")["enum"]?.strings == scopes)
        #expect(document.schema("ScopeWord")["enum"]?.strings == scopes)
        let operations = try #require(document.schema("Operation")["discriminator"]?["mapping"]?.members)
        #expect(operations.map(\.0) == OperationType.allCases.map(\.rawValue))
        #expect(document.schema("OperationType")["enum"]?.strings == OperationType.allCases.map(\.rawValue))
        let kinds = try #require(document.schema("Controller")["discriminator"]?["mapping"]?.keys)
        #expect(kinds == ControllerKind.allCases.map(\.rawValue))
    }

    @Test func `every reason and code of an end is described, and no other`() throws {
        // Conditions decide which members are present: first by the state `queued`, then by the outcome.
        let expired = try #require(document.schema("Transition")["else"]?["then"])
        let rejected = try #require(expired["else"])
        #expect(expired["if"]?["properties"]?["outcome"]?["const"] == "expired")
        #expect(rejected["if"]?["properties"]?["outcome"]?["const"] == "rejected")
        let refusal = OperationRefusal(code: .notOnStack, detail: "")
        let failure = FailedExpectation(expectation: .revision(Revision(rawValue: 0)), actual: "")
        let controller = try #require(ControllerID("a"))
        let rejections: [Rejection] = [
            .expectationFailed(failure), .invalidOperation(refusal), .scopeGone(controller),
            .vetoed(by: try #require(ClientName("a")), nil),
        ]
        let reasons = [expired, rejected].map { $0["then"]?["properties"]?["reason"]?["enum"]?.strings }
        #expect(reasons == [ExpiryReason.allCases.map(\.rawValue), rejections.map(\.reason)])
        let words = try #require(document.schema("Transition")["properties"]?["reason"]?["description"]?.string)
        for reason in reasons.compactMap({ $0 }).joined() { #expect(words.contains("`\(reason)`")) }
        let codes =
            [Problem.Code.expectationFailed.rawValue] + OperationRefusal.Code.allCases.map(\.rawValue)
            + [Problem.Code.unknownScene.rawValue, "vetoed"]
        #expect(document.schema("RejectionCode")["enum"]?.strings == codes)
        let outcomes: [TransitionOutcome] = [
            .completed, .cancelled, .expired(.lease), .rejected(.invalidOperation(refusal)),
            .superseded(by: TransitionID(rawValue: 1)), .revoked(Revocation(try #require(GivenReason("x")))),
        ]
        #expect(document.schema("TransitionOutcome")["enum"]?.strings == outcomes.map(\.name))
    }

    // MARK: Limits

    @Test(arguments: [
        ("LeaseSeconds", Limits.leaseDurations),
        ("TicketSeconds", Limits.ticketDurations),
        ("QueueSeconds", Limits.queueDurations),
        ("WaitSeconds", Limits.waitDurations),
        ("QuietSeconds", Limits.quietDurations),
        ("AnimationSeconds", Limits.animationDurations),
        ("ReadySeconds", Limits.readyDurations),
        ("SessionSeconds", Limits.sessionDurations),
    ])
    func `the limits of durations are described as they are`(name: String, range: ClosedRange<Duration>) throws {
        let described = document.schema(name)
        #expect(try #require(described["minimum"]?.seconds) == range.lowerBound)
        #expect(try #require(described["maximum"]?.seconds) == range.upperBound)
    }

    @Test func `the defaults of durations are described as they are`() throws {
        #expect(document.schema("TicketSeconds")["default"]?.seconds == Limits.defaultTicket)
        #expect(document.schema("ReadySeconds")["default"]?.seconds == Limits.defaultReady)
        #expect(document.schema("SessionSeconds")["default"]?.seconds == Limits.defaultSession)
        let defaults = try #require(document.schema("Defaults")["properties"])
        #expect(defaults["duration"]?["default"]?.seconds == Limits.defaultAnimation)
        #expect(defaults["leaseSeconds"]?["default"]?.seconds == Limits.defaultLease)
        // Another value takes precedence over the default, so a client that sends the default would change the meaning.
        // Therefore the schema has no default, and the description says it in words.
        let lease = document.schema("LeaseSeconds")
        #expect(lease["default"] == nil)
        #expect(
            lease["description"]?.string?.contains(
                "and \(Limits.defaultLease.components.seconds) where they are silent") == true)
        let wait = document.schema("WaitSeconds")
        #expect(wait["default"] == nil)
        #expect(wait["description"]?.string?.contains("waits for \(Limits.defaultAwait.components.seconds)") == true)
    }

    @Test func `the limits that stand twice are the same`() throws {
        let defaults = try #require(document.schema("Defaults")["properties"])
        for (member, name) in [("duration", "AnimationSeconds"), ("leaseSeconds", "LeaseSeconds")] {
            for limit in ["minimum", "maximum"] as [Node] {
                #expect(defaults[Node(member)]?[limit] == document.schema(name)[limit], "\(member)")
            }
        }
        for (schema, member, name) in [
            ("StartRequest", "scene", "SceneName"), ("SerializeRequest", "scene", "SceneName"),
            ("AnimationRequest", "type", "TransitionTypeName"), ("Transition", "presenter", "ControllerID"),
        ] {
            let property = try #require(document.schema(schema)["properties"]?[Node(member)])
            for limit in ["pattern", "minLength", "maxLength"] as [Node] {
                #expect(property[limit] == document.schema(name)[limit], "\(schema).\(member)")
            }
        }
        let start = try #require(document.schema("StartRequest")["properties"]?.mapping)
        var serialize = try #require(document.schema("SerializeRequest")["properties"]?.mapping)
        for own in ["wait", "whenBusy", "unmet"] as [Node] { serialize[own] = nil }
        #expect(serialize == start)
    }

    @Test func `the limits of names are described as they are`() {
        #expect(document.schema("SceneName")["maxLength"]?.int == Limits.sceneNameBytes)
        #expect(document.schema("ClientName")["maxLength"]?.int == Limits.clientNameBytes)
        #expect(document.schema("ControllerID")["maxLength"]?.int == Limits.controllerIDBytes)
        #expect(document.schema("TransitionTypeName")["maxLength"]?.int == Limits.transitionTypeBytes)
        #expect(document.schema("SegueIdentifier")["maxLength"]?.int == Limits.segueIdentifierBytes)
        #expect(document.schema("CoalescingKey")["maxLength"]?.int == Limits.coalescingKeyBytes)
        let key = document.root["components"]?["parameters"]?["IdempotencyKey"]
        let (least, most) = (Limits.idempotencyKeys.lowerBound, Limits.idempotencyKeys.upperBound)
        #expect(key?["schema"]?["pattern"]?.string == "^[!-~]{\(least),\(most)}$")
        #expect(key?["description"]?.string?.contains("first one arrived: \(least) to \(most)\nvisible") == true)
    }

    @Test func `the limits of lists are described as they are`() {
        #expect(document.schema("ScopeControllers")["maxItems"]?.int == Limits.scopeControllers)
        #expect(document.schema("ExpectationList")["maxItems"]?.int == Limits.expectations)
        let record = document.schema("Transition")["properties"]
        #expect(record?["expect"]?["maxItems"]?.int == Limits.expectations)
        for request in ["StartRequest", "SerializeRequest"] {
            let properties = document.schema(request)["properties"]
            #expect(properties?["participants"]?["maxItems"]?.int == Limits.participants)
        }
        for name in ["participants", "laggards"] {
            #expect(record?[name]?["maxItems"]?.int == Limits.participants + Limits.guardedControllers)
        }
        #expect(document.schema("Guards")["maxItems"]?.int == Limits.guardedControllers)
        for schema in ["Guard", "GuardRequest"] {
            let controllers = document.schema(schema)["properties"]?["controllers"]
            #expect(controllers?["maxItems"]?.int == Limits.guardedControllers)
        }
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

    @Test func `the limits of pages are described as they are`() throws {
        let limit = document.schema("PageLimit")
        #expect(limit["minimum"]?.int == Limits.listed.lowerBound)
        #expect(limit["maximum"]?.int == Limits.listed.upperBound)
        #expect(limit["default"]?.int == Limits.defaultListed)
        #expect(
            document.schema("TransitionList")["properties"]?["transitions"]?["maxItems"]?.int == limit["maximum"]?.int)
        #expect(document.schema("SceneList")["properties"]?["scenes"]?["maxItems"]?.int == limit["maximum"]?.int)
        for name in ["Scene", "SceneResetEvent"] {
            for list in ["running", "queue"] as [Node] {
                let shown = try #require(document.schema(name)["properties"]?[list])
                #expect(shown["maxItems"]?.int == Limits.transitionsOfScene)
                #expect(shown["description"]?.string?.contains("the first \(Limits.transitionsOfScene).") == true)
            }
        }
        #expect(
            document.text.contains("longer than\n        \(ServerLimits.pageBytes / 1024) KiB. Where there are older"))
        #expect(document.text.contains("A scene that is longer than \(ServerLimits.answerBytes / 1024) KiB"))
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
