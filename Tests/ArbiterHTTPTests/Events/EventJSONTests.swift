import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// The text of events in a stream.
struct EventJSONTests {
    private let timestamp = Timestamp(milliseconds: 1_767_225_600_123)

    private func sent(_ kind: SceneEvent.Kind, number: UInt64? = 7) throws -> (event: ReceivedEvent, data: JSON) {
        let event = SceneEvent(
            scene: .main, number: number.map(EventNumber.init(rawValue:)),
            overall: number.map { EventNumber(rawValue: $0 + 100) }, timestamp: timestamp, kind: kind)
        let bytes = EventJSON.encode(event, in: .scene(.main))
        var text = EventText()
        text.append(bytes)
        #expect(text.isComplete)
        #expect(text.comments == 0)
        let received = try #require(text.events.first)
        #expect(text.events.count == 1)
        #expect(received.id == number)
        let data = try JSON(Array(received.data.utf8))
        #expect(data["scene"] == "main")
        #expect(data["number"]?.number == number.map { Double($0) })
        #expect(data["at"] == "2026-01-01T00:00:00.123Z")
        return (received, data)
    }

    @Test(arguments: SceneEvent.Stage.allCases)
    func `a transition is told as every call shows it, and without its token`(stage: SceneEvent.Stage) throws {
        let service = try Service()
        let owned = try service.started(#"{"client": "a: \"b\""}"#)
        let view = try service.view(of: try #require(TransitionID(owned.id)))
        let (event, data) = try sent(.transition(stage, view))
        #expect(event.name == "transition.\(stage.rawValue)")
        let shown = try service.ask("GET", "/transitions/\(owned.id)").body
        #expect(data.names == shown.names.union(["number", "at"]).subtracting(["leaseRemaining"]))
        #expect(data["id"] == shown["id"])
        #expect(data["fence"] == shown["fence"])
        #expect(!event.data.contains(owned.token))
        #expect(data["token"] == nil)
    }

    @Test(arguments: AppearanceEvent.Change.allCases)
    func `a controller comes or goes by a transition`(change: AppearanceEvent.Change) throws {
        let controller = try #require(ControllerID("editor"))
        let id = TransitionID(rawValue: 9)
        let (event, data) = try sent(.appearance(AppearanceEvent(controller, change), id))
        #expect(event.name == "controller.\(change.rawValue)")
        #expect(data.names == ["scene", "controller", "transition", "number", "at"])
        #expect(data["controller"] == "editor")
        #expect(data["transition"]?.text == id.description)
    }

    @Test func `a hierarchy changes by a transition, or by a declaration`() throws {
        let editor = try #require(ControllerID("editor"))
        let revision = Revision(rawValue: 8)
        let id = TransitionID(rawValue: 9)
        let arrival = try Hierarchy(root: editor, controllers: [Controller(id: editor)])
        let navigation = try #require(ControllerID("nav"))
        let pushed = HierarchyUpdate(
            revision: revision, transition: id, inserted: [editor],
            change: .edited([.insert(arrival, at: .top(ofNavigation: navigation))]))
        let (event, data) = try sent(.hierarchyChanged(pushed))
        #expect(event.name == "hierarchy.changed")
        #expect(data.names == ["scene", "revision", "transition", "inserted", "removed", "changes", "number", "at"])
        #expect(data["revision"] == 8)
        #expect(
            data["changes"] == [
                [
                    "type": "insert", "controller": ["id": "editor", "kind": "view"],
                    "place": ["type": "top", "parent": "nav"],
                ]
            ])
        #expect(data["inserted"] == ["editor"])
        #expect(data["removed"] == [])
        #expect(data["transition"]?.text == id.description)
        let declared = try sent(.hierarchyChanged(HierarchyUpdate(revision: revision, change: .replaced(arrival)))).data
        #expect(declared.names == ["scene", "revision", "inserted", "removed", "changes", "number", "at"])
        #expect(declared["changes"] == [["type": "replace", "root": ["id": "editor", "kind": "view"]]])
        let emptied = try sent(.hierarchyChanged(HierarchyUpdate(revision: revision, change: .replaced(Hierarchy()))))
            .data
        #expect(emptied["changes"] == [["type": "replace"]])
    }

    @Test func `a scene is deleted`() throws {
        let (event, data) = try sent(.sceneDeleted)
        #expect(event.name == "scene.deleted")
        #expect(data.names == ["scene", "number", "at"])
    }

    @Test func `what is momentary has no number`() throws {
        _ = try sent(
            .hierarchyChanged(HierarchyUpdate(revision: Revision(rawValue: 1), change: .edited([]))), number: nil)
    }

    @Test func `a reset tells the scene whole and its number`() throws {
        var text = EventText()
        var events = EventSnapshot(number: 5, json: #"{"a":1}"#).events
        text.append(events.take(atLeast: .max))
        #expect(text.isComplete)
        #expect(text.events.map(\.name) == ["reset"])
        #expect(text.events.map(\.id) == [5])
        #expect(text.events.first?.json == ["a": 1])
    }
}

extension Service {
    fileprivate func view(of id: TransitionID) throws -> TransitionView {
        let found = Guarded<TransitionView?>(nil)
        engine.read { machine, now throws(ArbiterError) in
            try machine.view(of: id, at: now)
        } completion: { result in
            let view = try? result.get()
            found.withLock { $0 = view }
        }
        return try #require(found.withLock { $0 })
    }
}
