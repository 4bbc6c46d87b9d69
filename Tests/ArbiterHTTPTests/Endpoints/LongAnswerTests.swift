import ArbiterCore
import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// Answers with many controllers: summaries in lists, and pieces in answers about one transition.
struct LongAnswerTests {
    private let service: Service

    init() throws {
        service = try Service()
    }

    private static func ids(_ count: Int, length: Int = 8) -> [String] {
        (0..<count).map { number in
            let digits = String(number)
            return "c" + String(repeating: "0", count: length - 1 - digits.utf8.count) + digits
        }
    }

    /// Declares a stack of this many views.
    private func declareStack(_ ids: [String], in scene: String = "main") throws {
        let children = ids.map { #""\#($0)""# }.joined(separator: ",")
        let body = #"{"root": {"id": "nav", "kind": "navigation", "children": [\#(children)]}}"#
        #expect(try service.ask("PUT", "/scenes/\(scene)/storyboard", body).status == 200)
    }

    // MARK: Summaries

    @Test func `whatever shows several transitions, or one beside the point, names who comes in by a count`() throws {
        try declareStack(["root"])
        let controllers = Self.ids(5000).map { #""\#($0)""# }.joined(separator: ",")
        let setStack = #"{"type": "setStack", "navigation": "nav", "controllers": ["root", \#(controllers)]}"#
        let summary: JSON = ["type": "setStack", "navigation": "nav", "controllerCount": 5001]
        let owned = try service.started(#"{"operation": \#(setStack)}"#)
        #expect(owned.answer.body["operation"]?["controllers"]?.elements.count == 5001)
        let waiting = try service.serialized(#"{"operation": \#(setStack)}"#)

        #expect(try service.transitions().map { $0["operation"] } == [summary, summary])
        let scene = try service.ask("GET", "/scenes/main")
        #expect(scene.body["running"]?.elements.map { $0["operation"] } == [summary])
        #expect(scene.body["queue"]?.elements.map { $0["operation"] } == [summary])
        let shown = try service.ask("GET", "/transitions/\(waiting.id)")
        #expect(shown.body["operation"]?["controllers"]?.elements.count == 5001)

        service.pass(.seconds(11))
        let refused = try service.ask("POST", "/transitions/end", owned.acting())
        #expect(refused.status == 410)
        #expect(refused.body["transition"]?["operation"] == summary)
    }

    @Test func `a summary has no long list`() throws {
        let ids = Self.ids(2000)
        try declareStack(ids)
        let owned = try service.started(#"{"operation": {"type": "popToRoot", "navigation": "nav"}}"#)
        let ended = try service.ended(owned)
        #expect(ended.body["removed"]?.elements.compactMap(\.text) == ids.dropFirst().reversed())
        #expect(try service.ask("GET", "/transitions/\(owned.id)").body == ended.body)
        let listed = try #require(try service.transitions().first)
        #expect(listed["revision"] == 2)
        #expect(listed["inserted"] == [])
        #expect(listed["removed"] == nil)
        #expect(listed["appearance"] == ended.body["appearance"])
        #expect(listed.names.union(["removed"]) == ended.body.names)
    }

    // MARK: Pieces

    @Test func `a large scene and its storyboard are sent in pieces, with their revision`() throws {
        let ids = Self.ids(9999, length: 100)
        try declareStack(ids)
        for (target, member) in [("/scenes/main", "hierarchy"), ("/scenes/main/storyboard", "root")] {
            let exchange = service.send("GET", target)
            #expect(exchange.source != nil)
            #expect(exchange.responses.first?.body.isEmpty == true)
            let answer = try exchange.answer()
            #expect(answer.status == 200)
            #expect(answer.headers("ETag") == (member == "root" ? ["\"1\""] : []))
            #expect(answer.response.body.count > 1 << 20)
            #expect(answer.body[member]?["children"]?.elements.compactMap { $0["id"]?.text } == ids)
            #expect(answer.response.body.last == UInt8(ascii: "\n"))
        }
    }

    @Test func `a scene is sent as it was when the answer began`() throws {
        let ids = Self.ids(9999, length: 100)
        try declareStack(ids)
        let exchange = service.send("GET", "/scenes/main/storyboard")
        try declareStack(["another"])
        #expect(try exchange.answer().body["root"]?["children"]?.elements.count == ids.count)
    }

    @Test func `a small scene is sent whole`() throws {
        try declareStack(Self.ids(100))
        #expect(service.send("GET", "/scenes/main").source == nil)
        #expect(service.send("GET", "/scenes/main/storyboard").source == nil)
    }

    @Test func `a transition that removes ten thousand controllers is told in pieces`() throws {
        let ids = Self.ids(9999, length: 100)
        try declareStack(ids)
        let owned = try service.started(#"{"operation": {"type": "popToRoot", "navigation": "nav"}}"#)
        let exchange = service.send("POST", "/transitions/end", owned.acting())
        #expect(exchange.source != nil)
        let ended = try exchange.answer()
        #expect(ended.body["removed"]?.elements.count == 9998)
        #expect(try service.ask("GET", "/transitions/\(owned.id)").body == ended.body)
    }

    // MARK: Room

    @Test func `where long answers keep too much a question is refused`() throws {
        try declareStack(Self.ids(9999, length: 100))
        for target in ["/scenes/main", "/scenes/main/storyboard", "/trace"] {
            let full = RecordingExchange(hasPlace: false)
            service.send("GET", target, to: full)
            let answer = try full.answer()
            #expect(answer.status == 503)
            #expect(answer.code == "too-many-connections")
            #expect(full.rooms.count == 1)
            #expect(full.rooms.allSatisfy { $0.isQuestion && $0.isLong && $0.byteCount > 9999 * 100 })
        }
    }

    @Test func `where long answers keep too much what has been done is done, and its answer cut off`() throws {
        try declareStack(Self.ids(9999, length: 100))
        let owned = try service.started(#"{"operation": {"type": "popToRoot", "navigation": "nav"}}"#)
        let full = RecordingExchange(hasPlace: false)
        service.send("POST", "/transitions/end", owned.acting(), to: full)
        #expect(full.rooms.map(\.isQuestion) == [false])
        #expect(full.source?.read(upTo: 100) == .cut)
        #expect(try service.ask("GET", "/transitions/\(owned.id)").body["state"] == "ended")
    }

    @Test func `a short answer needs no room`() throws {
        try declareStack(Self.ids(100))
        let full = RecordingExchange(hasPlace: false)
        service.send("GET", "/scenes/main", to: full)
        #expect(try full.answer().status == 200)
        #expect(full.rooms == [])
    }

    @Test func `a reader that begins anew is told a large scene in pieces`() throws {
        let service = try Service(tellsEvents: true)
        let children = Self.ids(9999, length: 100).map { #""\#($0)""# }.joined(separator: ",")
        let root = #"{"root": {"id": "nav", "kind": "navigation", "children": [\#(children)]}}"#
        try service.declared(root)
        let exchange = service.send("GET", "/scenes/main/events?since=999")
        service.hub.settle()
        let source = try #require(exchange.source)
        var sent: [UInt8] = []
        while case .bytes(let bytes) = source.read(upTo: 4096) {
            #expect(bytes.count <= 4096)
            sent += bytes
        }
        var text = EventText()
        text.append(sent)
        let event = try #require(text.events.first)
        #expect(text.events.count == 1)
        #expect(event.name == "reset")
        #expect(event.json["hierarchy"]["children"].elements.count == 9999)
        #expect(event.json["limits"]["unfinished"].integer == Limits().unfinished)
    }
}
