import ArbiterCore
import ArbiterTestKit
import Testing

@testable import ArbiterEngine

/// A stream that ends because of a notice needs the events of the same turn before it.
struct NoticeOrderTests {
    @Test func `the events of a session's end are told before the notice of it`() throws {
        let told = Guarded<[String]>([])
        let engine = try Engine(journal: MemoryJournal(keepsRecords: true), time: ManualTime()) { events in
            told.withLock {
                $0 += events.map { "\($0.kind)" }.filter { $0.hasPrefix("sessionEnded") }.map { _ in "event" }
            }
        } observer: { notice in
            if case .happened(.sessionEnded) = notice { told.withLock { $0.append("notice") } }
        }
        let opened = Guarded<Token?>(nil)
        engine.openSession(client: nil, timeToLive: .seconds(30)) { result in
            let token = (try? result.get())?.session.token
            opened.withLock { $0 = token }
        }
        let token = try #require(opened.withLock { $0 })
        engine.start(TransitionRequest(session: token)) { _ in }
        engine.endSession(token) { _ in }
        #expect(told.withLock { $0 } == ["event", "notice"])
    }
}
