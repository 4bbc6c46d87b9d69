import ArbiterTestKit
import Foundation
import Glibc
import Testing

extension Integration {
    /// A journal that is moved away, or loses its end, while the daemon runs.
    @Suite struct LostJournals {
        private let directory: TemporaryDirectory

        init() throws {
            directory = try TemporaryDirectory()
        }

        @Test(arguments: ["", "/log-1"])
        func `a daemon whose journal is deleted refuses, and ends`(what: String) throws {
            let daemon = try DaemonProcess(in: directory)
            let client = try daemon.connect()
            #expect(try client.start().status == 201)
            // It is noticed without a commit. What was asked before is answered before the daemon ends, whenever that is read.
            try client.park()
            try #require(try daemon.connect().isQueueLong(1))
            try client.send("POST", "/transitions/start", body: #"{"scene":"other"}"#)
            try FileManager.default.removeItem(atPath: directory.path + what)
            #expect(try client.receive()["code"] == "journal-unavailable")
            #expect(try client.receive()["code"] == "journal-unavailable")
            #expect(try daemon.waitForExit() == .exited(EX_IOERR))
            #expect(daemon.logs("moved, deleted, replaced"))
        }

        @Test func `nothing is granted that is written into a deleted file`() throws {
            let daemon = try DaemonProcess(in: directory)
            let client = try daemon.connect()
            #expect(try client.start().status == 201)
            try FileManager.default.removeItem(atPath: directory.path)
            #expect(try client.start(["scene": "other"]).status == 503)
        }

        private func killed(_ starts: Int) throws -> Int {
            let daemon = try DaemonProcess(in: directory)
            let client = try daemon.connect()
            var fence = 0
            for number in 0..<starts {
                fence = try #require(try client.start(["scene": .string("scene-\(number)")])["fence"].integer)
            }
            daemon.signal(SIGKILL)
            try daemon.waitForExit()
            return fence
        }

        @Test(arguments: [100, 300, 1000])
        func `no fence is given twice though the log has lost its end`(bytes: Int) throws {
            let fence = try killed(20)
            #expect(unsafe truncate(directory.path + "/log-1", bytes) == 0)
            let daemon = try DaemonProcess(in: directory)
            let next = try daemon.connect().start(["scene": "fresh"])
            #expect(try #require(next["fence"].integer) > fence)
        }

        @Test func `fences go on where they were after a clean stop`() throws {
            let first = try DaemonProcess(in: directory)
            #expect(try first.connect().start()["fence"].integer == 1)
            first.signal(SIGTERM)
            #expect(try first.waitForExit() == .exited(0))
            let second = try DaemonProcess(in: directory)
            #expect(try second.connect().start(["scene": "other"])["fence"].integer == 2)
        }

        @Test(.enabled(if: TinyDisk.isPermitted, "a file system can only be mounted by root"))
        func `a daemon whose disk was full goes on by itself`() throws {
            let disk = try TinyDisk(bytes: 512 * 1024)
            let daemon = try DaemonProcess(in: disk.directory)
            let client = try daemon.connect()
            let held = try client.post(
                "/transitions/start", ["leaseSeconds": 300], headers: ["Idempotency-Key: held-0123456789ab"])
            let other = try daemon.connect()
            var answer = held
            while answer.status != 503 { answer = try other.serialize(["scene": "filling"]) }
            #expect(answer["code"] == "journal-unavailable")
            #expect(answer["detail"].string?.contains("make room") == true)
            #expect(try other.get("/readyz")["detail"].string?.contains("tries again within") == true)
            try disk.grow(toBytes: 16 * 1024 * 1024)
            #expect(try eventually { try other.get("/readyz").status == 200 })
            let again = try other.post(
                "/transitions/start", ["leaseSeconds": 300], headers: ["Idempotency-Key: held-0123456789ab"])
            #expect(again["token"] == held["token"])
            #expect(try other.end(held).status == 200)
            daemon.signal(SIGTERM)
            #expect(try daemon.waitForExit() == .exited(0))
        }
    }
}
