internal import ArbiterEngine
internal import ArbiterTestKit
internal import Dispatch
internal import Foundation
internal import Glibc
internal import Testing

@testable internal import ArbiterHTTP

extension Integration {
    /// What the daemon tells the service manager, and the sockets that it gets from it.
    @Suite struct ServiceManager {
        private let directory: TemporaryDirectory

        init() throws { directory = try TemporaryDirectory() }

        @Test(arguments: [false, true])
        func `the service manager hears that the daemon is ready, alive and stopping`(isAbstract: Bool) throws {
            let name = isAbstract ? "@arbiter-test-\(UUID())" : directory.path + "/notify"
            let manager = try NotificationSocket(name)
            let daemon = try DaemonProcess(environment: ["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "100000"])
            #expect(try manager.receive() == ["READY=1", "STATUS=ready on http://127.0.0.1:\(daemon.port)"])
            for _ in 0..<3 { #expect(try manager.receive() == ["WATCHDOG=1"]) }
            daemon.signal(SIGTERM)
            var last = try manager.receive()
            while last == ["WATCHDOG=1"] { last = try manager.receive() }
            #expect(last == ["STOPPING=1", "STATUS=draining"])
            #expect(try daemon.waitForExit() == .exited(0))
        }

        @Test func `a watchdog of another process gets no signs of life`() throws {
            let manager = try NotificationSocket(directory.path + "/notify")
            let daemon = try DaemonProcess(environment: [
                "NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "2", "WATCHDOG_PID": "1",
            ])
            #expect(try manager.receive().first == "READY=1")
            // While it answers, there would be many signs of life.
            #expect(try daemon.connect().start().status == 201)
            daemon.signal(SIGTERM)
            #expect(try manager.receive().first == "STOPPING=1")
        }

        @Test func `no connection is refused while the daemon restarts on the socket that it is given`() throws {
            let socket = try ListeningSocket(NetworkAddress(host: "127.0.0.1", port: 0), beyondLoopback: false)
            let port = try #require(socket.address.port)
            let first = try DaemonProcess(listening: socket.descriptor, in: directory)
            #expect(first.port == port)
            let crowd = Crowd(port: port)
            crowd.start(clients: 8)
            #expect(crowd.waitForAnswers(100))
            let kept = try first.connect().start(["leaseSeconds": 120])

            first.signal(SIGTERM)
            #expect(try first.waitForExit() == .exited(0))
            // Nobody accepts this connection now.
            let early = try WireClient(port: port)
            try early.send("GET", "/transitions/\(kept["id"].string ?? "")")
            let second = try DaemonProcess(listening: socket.descriptor, in: directory)
            #expect(try early.receive()["state"] == "running")
            #expect(crowd.waitForAnswers(100))
            #expect(crowd.stop() == [])
            second.signal(SIGTERM)
            #expect(try second.waitForExit() == .exited(0))
        }
    }
}

/// Clients that ask a daemon as fast as they can, with a new connection for every request.
private final class Crowd: Sendable {
    private struct State {
        var isStopped = false
        var failures: [String] = []
    }

    private let port: UInt16
    private let state = Guarded(State())
    private let answers = DispatchSemaphore(value: 0)
    private let clients = DispatchGroup()

    init(port: UInt16) {
        self.port = port
    }

    func start(clients count: Int) {
        for _ in 0..<count {
            clients.enter()
            Thread { [self] in
                while !state.withLock(\.isStopped) { ask() }
                clients.leave()
            }.start()
        }
    }

    private func ask() {
        do throws(WireError) {
            let answer = try WireClient(port: port).request("GET", "/scenes")
            switch answer.status {
            case 200: answers.signal()
            // The old daemon drains.
            case 503: break
            default: note("\(answer)")
            }
        } catch .closed {
            // The old daemon had accepted the connection, and went before it got the request.
        } catch {
            note("\(error)")
        }
    }

    private func note(_ failure: String) {
        state.withLock { $0.failures.append(failure) }
    }

    /// - Returns: whether so many requests are answered from now on, in time.
    func waitForAnswers(_ count: Int) -> Bool {
        while answers.wait(timeout: .now()) == .success {}
        let deadline = DispatchTime.now() + .seconds(20)
        return (0..<count).allSatisfy { _ in answers.wait(timeout: deadline) == .success }
    }

    /// - Returns: what should not have happened.
    func stop() -> [String] {
        state.withLock { $0.isStopped = true }
        clients.wait()
        return state.withLock(\.failures)
    }
}
