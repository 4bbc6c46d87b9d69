import ArbiterTestKit
import Dispatch
import Foundation
import Testing

extension Integration {
    /// A daemon that is killed at work, and started again with its journal.
    @Suite struct Crashes {
        private static let kills =
            ProcessInfo.processInfo.environment["ARBITER_KILLS"].flatMap { Int($0) } ?? 5
        private static let arguments =
            ProcessInfo.processInfo.environment["ARBITER_DURABILITY"].map { ["--durability", $0] } ?? []
        private static let seed = Seeds.night ?? 1
        private static let clients = 6
        /// How many of the last answers before a kill are checked after the restart.
        private static let lookedAt = 300

        struct Stalled: Error {}

        @Test func `what clients saw holds over any number of kills`() throws {
            let begun = HistoryRecorder.now()
            var random = SplitMix64(seed: Self.seed)
            let directory = try TemporaryDirectory()
            var daemon = try DaemonProcess(Self.arguments, in: directory)
            let load = Load(port: daemon.port)
            load.start(clients: Self.clients, seed: Self.seed)
            // However it ends, no client waits for another daemon for ever.
            defer { letGo(of: load) }

            for _ in 0..<Self.kills {
                load.forgetProgress()
                for _ in 0..<Int.random(in: 20...300, using: &random) {
                    guard load.progress.wait(timeout: .now() + .seconds(60)) == .success else { throw Stalled() }
                }
                daemon.signal(SIGKILL)
                try daemon.waitForExit()
                let answered = load.recorder.calls.suffix(Self.lookedAt)
                daemon = try DaemonProcess(Self.arguments, listen: "127.0.0.1:\(load.port)", in: directory)
                load.goOn()
                try look(again: answered, load, daemon)
            }
            #expect(load.finish(), "seed \(Self.seed)")
            try look(again: load.recorder.calls.suffix(Self.lookedAt), load, daemon)
            try expectOrder(in: ["main", "left"], load, daemon)

            let calls = load.recorder.calls
            #expect(load.unexpected == [], "seed \(Self.seed)")
            #expect(HistoryChecker(calls).violations() == [], "seed \(Self.seed)")
            report(calls, since: begun)
            let verified = try ChildProcess("arbiterd", ["journal", "verify", "--data", directory.path])
            #expect(try verified.waitForExit() == .exited(0), "\(verified.standardError)")
        }

        /// Everything that an answer said about a transition must still be true.
        private func look(again calls: ArraySlice<ObservedCall>, _ load: Load, _ daemon: DaemonProcess) throws {
            var scenes: [String: String] = [:]
            for call in calls {
                if case .transition(let seen)? = call.answer { scenes[seen.id] = call.scene }
            }
            let client = try daemon.connect()
            for (id, scene) in scenes { try load.recorder.look(at: id, scene: scene, over: client) }
        }

        /// The list is in request order, and fences increase in it.
        private func expectOrder(in scenes: [String], _ load: Load, _ daemon: DaemonProcess) throws {
            for scene in scenes {
                let sent = HistoryRecorder.now()
                let list = try daemon.connect().transitions(in: scene)
                load.recorder.look(at: list, askedAt: sent)
                let fences = list.compactMap { $0["fence"].integer }
                #expect(zip(fences, fences.dropFirst()).allSatisfy(<), "seed \(Self.seed)")
            }
        }

        private func letGo(of load: Load) {
            while !load.finish(within: .milliseconds(10)) { load.goOn() }
        }

        private func report(_ calls: [ObservedCall], since begun: UInt64) {
            let seconds = Double((HistoryRecorder.now() - begun) / 1_000_000) / 1000
            let granted = Set(
                calls.compactMap { call in
                    if case .transition(let seen)? = call.answer, seen.fence != nil { seen.id } else { nil }
                })
            print(
                "seed \(Self.seed): \(seconds) s, \(Self.kills) kills, \(calls.count) requests, "
                    + "\(calls.count { $0.answer == nil }) of them unanswered, \(granted.count) grants")
        }
    }
}
