internal import ArbiterTestKit
internal import Glibc
internal import Testing

extension Integration {
    /// Waiting for a scene to be idle, as a test of a user interface does before it looks.
    @Suite struct IdleScenes {
        let daemon: DaemonProcess
        let view: WireClient
        let tester: WireClient

        init() throws {
            daemon = try DaemonProcess()
            view = try daemon.connect()
            tester = try daemon.connect()
        }

        @Test func `a tester looks when the views have been quiet for long enough`() throws {
            let first = try view.start(["client": "menu"])
            let second = try view.serialize(["client": "alert"])
            try tester.send("GET", "/scenes/main/await?until=idle&quietSeconds=0.2&wait=60")
            #expect(try view.end(first).status == 200)
            #expect(!tester.hasAnswer)
            let ended = try view.end(second)
            #expect(ended.status == 200)
            let idle = try tester.receive()
            #expect(idle.status == 200)
            #expect(idle["idle"] == true)
            #expect(idle["runningCount"] == 0)
            #expect(idle["queuedCount"] == 0)
            // The answer is not early; how late it is depends on the machine.
            #expect(try #require(idle["idleFor"].number) >= 0.2)
        }

        @Test func `a view that dies leaves the scene idle when its lease is over`() throws {
            _ = try view.start(["leaseSeconds": 0.3])
            let idle = try tester.get("/scenes/main/await?wait=60")
            #expect(idle["idle"] == true)
            #expect(try view.transitions().map(\.ending) == ["expired/lease"])
        }

        @Test func `a wait that is over says that the scene is busy`() throws {
            _ = try view.start(["leaseSeconds": 60])
            let busy = try tester.get("/scenes/main/await", headers: ["Prefer: wait=0.1"])
            #expect(busy["idle"] == false)
            #expect(busy["idleFor"] == .null)
            #expect(busy["runningCount"] == 1)
            #expect(busy.header("Preference-Applied") == "wait=0.1")
        }

        @Test func `a stop answers the parked awaits`() throws {
            _ = try view.start(["leaseSeconds": 60])
            try tester.send("GET", "/scenes/main/await?wait=60")
            try #require(try view.areParked(1))
            daemon.signal(SIGTERM)
            let answer = try tester.receive()
            #expect(answer.status == 200)
            #expect(answer["idle"] == false)
            #expect(answer["runningCount"] == 1)
            #expect(try daemon.waitForExit() == .exited(0))
        }

        @Test func `a restart begins the time anew`() throws {
            #expect(try view.end(try view.start()).status == 200)
            #expect(try tester.get("/scenes/main/await?quietSeconds=1&wait=60")["idle"] == true)
            daemon.signal(SIGTERM)
            #expect(try daemon.waitForExit() == .exited(0))
            let successor = try DaemonProcess(in: daemon.directory)
            let fresh = try successor.connect()
            let restless = try fresh.get("/scenes/main/await?quietSeconds=120&wait=0")
            #expect(restless["idle"] == false)
            #expect(restless["runningCount"] == 0)
            #expect(try fresh.get("/scenes/main/await?quietSeconds=0.1&wait=60")["idle"] == true)
        }
    }
}
