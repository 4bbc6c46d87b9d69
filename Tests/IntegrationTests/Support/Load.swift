import ArbiterEngine
import ArbiterTestKit
import Dispatch
import Foundation

/// Clients that ask for transitions as fast as they can, each until it is answered, however often the daemon dies.
final class Load: Sendable {
    let recorder = HistoryRecorder()
    let port: UInt16
    /// Counts answers.
    let progress = DispatchSemaphore(value: 0)

    private struct State {
        var isStopped = false
        /// How many daemons there have been.
        var generation = 0
        var waiting: [DispatchSemaphore] = []
        var unexpected: [String] = []
    }

    private let state = Guarded(State())
    private let clients = DispatchGroup()

    init(port: UInt16) {
        self.port = port
    }

    /// Sets so many clients to work, each with a seed of its own.
    func start(clients count: Int, seed: UInt64) {
        for number in 0..<count {
            clients.enter()
            let thread = Thread {
                var client = LoadClient(name: "client-\(number)", seed: seed &* 1000 &+ UInt64(number), load: self)
                client.run()
                self.clients.leave()
            }
            thread.start()
        }
    }

    /// Another daemon is there.
    func goOn() {
        let waiting = state.withLock { state in
            state.generation += 1
            defer { state.waiting = [] }
            return state.waiting
        }
        for semaphore in waiting { semaphore.signal() }
    }

    /// Has everybody finish what is under way.
    ///
    /// - Returns: whether they did.
    func finish(within limit: DispatchTimeInterval = .seconds(60)) -> Bool {
        state.withLock { $0.isStopped = true }
        return clients.wait(timeout: .now() + limit) == .success
    }

    /// Counts answers from now on.
    func forgetProgress() {
        while progress.wait(timeout: .now()) == .success {}
    }

    var isStopped: Bool { state.withLock { $0.isStopped } }
    var generation: Int { state.withLock { $0.generation } }
    var unexpected: [String] { state.withLock { $0.unexpected } }

    func note(_ unexpected: String) {
        state.withLock { $0.unexpected.append(unexpected) }
    }

    /// Waits until there is another daemon than this one.
    func wait(after generation: Int) {
        let semaphore = DispatchSemaphore(value: 0)
        let mustWait = state.withLock { state in
            guard state.generation == generation else { return false }
            state.waiting.append(semaphore)
            return true
        }
        if mustWait { semaphore.wait() }
    }
}

/// One of them.
struct LoadClient {
    private let name: String
    private let load: Load
    private var random: SplitMix64
    private var connection: WireClient?
    private var lastKey = 0

    private struct Gone: Error {}

    init(name: String, seed: UInt64, load: Load) {
        self.name = name
        self.load = load
        random = SplitMix64(seed: seed)
    }

    mutating func run() {
        while !load.isStopped {
            do {
                try live()
            } catch {
                return
            }
        }
    }

    /// One transition, from asking to its end.
    private mutating func live() throws {
        lastKey += 1
        let key = "0123456789-\(name)-\(lastKey)"
        let scene = random.isOnce(in: 4) ? "left" : "main"
        let isForgetful = random.isOnce(in: 80)
        var body: JSONValue = ["scene": .string(scene), "client": .string(name)]
        if isForgetful { body = body.adding(["leaseSeconds": 0.2]) }
        let isStart = random.isOnce(in: 5)
        if !isStart, random.isOnce(in: 2) { body = body.adding(["wait": 20]) }
        let asked = try ask(
            isStart ? .start(key: key) : .serialize(key: key), scene,
            isStart ? "/transitions/start" : "/transitions/serialize", body, headers: ["Idempotency-Key: \(key)"])
        guard [200, 201, 202].contains(asked.status), let id = asked["id"].string else {
            expect(asked, [409], isStart ? "start" : "serialize")
            return
        }
        let credentials: JSONValue = ["id": asked["id"], "token": asked["token"]]
        var state = asked["state"]
        while state == "queued", !random.isOnce(in: 8) {
            let body = credentials.adding(["until": "running", "wait": 20])
            let answer = try ask(.await(id: id), scene, "/transitions/await", body)
            expect(answer, [200, 410], "await")
            state = answer["state"]
        }
        guard !isForgetful else { return }
        if random.isOnce(in: 6) {
            expect(try ask(.renew(id: id), scene, "/transitions/renew", credentials), [200, 409, 410], "renew")
        }
        let outcome = random.isOnce(in: 4) ? "cancelled" : "completed"
        let end = credentials.adding(["outcome": .string(outcome)])
        expect(try ask(.end(id: id, as: outcome), scene, "/transitions/end", end), [200, 410], "end")
    }

    /// Asks until there is an answer.
    private mutating func ask(
        _ question: ObservedCall.Question, _ scene: String, _ path: String, _ body: JSONValue, headers: [String] = []
    ) throws -> WireResponse {
        while true {
            let generation = load.generation
            do {
                let client = try connection ?? WireClient(port: load.port)
                connection = client
                let answer = try load.recorder.ask(
                    question, scene: scene, over: client, path, body, headers: headers)
                load.progress.signal()
                if answer.status != 503 { return answer }
            } catch {
                connection = nil
                if load.isStopped { throw Gone() }
            }
            load.wait(after: generation)
        }
    }

    private func expect(_ answer: WireResponse, _ statuses: [Int], _ what: String) {
        if !statuses.contains(answer.status) { load.note("\(name), \(what): \(answer)") }
    }
}
