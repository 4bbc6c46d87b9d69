import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Foundation
import Logging
import Testing

/// A full disk loses nothing that was answered.
@Suite(.enabled(if: TinyDisk.isPermitted, "a file system can only be mounted by root"))
struct LogJournalDiskTests {
    private let disk: TinyDisk

    init() throws {
        disk = try TinyDisk(bytes: 512 * 1024)
    }

    private func open() throws(JournalError) -> LogJournal {
        try LogJournal(
            directory: disk.directory.path, durability: .crash,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test func `requests are refused on a full disk, and everything answered is there once there is room`() throws {
        let bench = try Bench(open())
        var known = [try bench.answered { bench.engine.start(TransitionRequest(), completion: $0) }]
        bench.serialize("parked", wait: .seconds(60))
        var failure: EngineError?
        while failure == nil {
            do {
                known.append(
                    try bench.answered { bench.engine.serialize(TransitionRequest(), wait: .zero, completion: $0) })
            } catch let error as EngineError {
                failure = error
            }
        }

        guard case .journalUnavailable(let reason)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(reason.reason.contains("make room"))
        #expect(eventually { bench.answers["parked"].count == 1 })
        #expect(try bench.answers.refusal("parked") == .journalUnavailable(reason))
        for ask in [bench.renew, { bench.end($0, $1) }, { bench.wait($0, for: $1) }]
            as [(String, TransitionView) -> Void]
        {
            ask("later", known[0])
        }
        #expect(bench.answers["later"].count == 3)
        #expect(bench.answers["later"].allSatisfy { $0 == .failure(.journalUnavailable(reason)) })
        bench.engine.stop()

        #expect(known.count > 10)
        try disk.grow(toBytes: 16 * 1024 * 1024)
        let after = try Bench(open(), time: bench.time)
        for view in known {
            let kept = try after.answered {
                after.engine.wait(on: view.id, token: nil, until: .granted, wait: .zero, completion: $0)
            }
            #expect(kept.transition == view.transition)
        }
        _ = try after.answered { after.engine.end(known[0].id, token: known[0].token, as: .completed, completion: $0) }
        after.engine.stop()
    }

    @Test func `a disk without room for a journal is refused`() throws {
        let filling = disk.directory.path + "/filling"
        for count in stride(from: 512 * 1024, through: 4096, by: -4096) {
            if (try? Data(count: count).write(to: URL(fileURLWithPath: filling))) != nil { break }
        }
        let refusal = #expect(throws: JournalError.self) { try open() }
        #expect(refusal?.kind == .inaccessible)
        #expect(refusal?.reason.contains(disk.directory.path) == true)
    }

    @Test func `a journal on a disk that takes no writes is refused`() throws {
        try open().close()
        try disk.makeReadOnly()
        let refusal = #expect(throws: JournalError.self) { try open() }
        #expect(refusal?.kind == .inaccessible)
        #expect(refusal?.reason.contains(disk.directory.path) == true)
    }
}
