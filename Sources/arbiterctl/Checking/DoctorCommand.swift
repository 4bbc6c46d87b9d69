internal import ArbiterClient
internal import ArgumentParser
internal import Foundation

/// `arbiterctl doctor`.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract:
            "Checks that the daemon can be reached and is ready, as whom it is used, the clocks and the versions.",
        discussion: "Each request is made once. Exit code 125 says that a check has failed."
    )

    /// How far the clocks may be apart before it is pointed out, in seconds.
    ///
    /// Leases do not depend on it; logs do.
    private static let clockTolerance = 2.0
    private static let samples = 5

    @OptionGroup var daemon: Daemon

    func run() async throws {
        // Each request is made once, so that a failure shows.
        let arbiter = try daemon.makeArbiter(named: nil, patience: .zero)
        var isHealthy = true
        func tell(_ isGood: Bool, _ check: String, _ text: String) {
            isHealthy = isHealthy && isGood
            let output = Terminal.output
            let mark = isGood ? output.styled("ok    ", .green) : output.styled("failed", .red)
            output.line("\(mark)  \(check.padded(to: 8))  \(text.printable)")
        }
        func check(_ name: String, _ body: () async throws -> String) async -> Bool {
            do {
                tell(true, name, try await body())
                return true
            } catch {
                tell(false, name, "\(error)")
                return false
            }
        }
        // Where the daemon cannot be reached, nothing else can be said.
        guard await check("reached", { try await reached(arbiter) }) else { throw ExitCode(Exit.failed) }
        _ = await check("ready") {
            try await arbiter.sendOnce(WireRequest("GET", "/readyz")).accepted()["status"]?.string ?? "-"
        }
        _ = await check("identity") { try await identity(arbiter) }
        let (isClose, clock) = try await self.clock(arbiter)
        tell(isClose, "clock", clock)
        guard isHealthy else { throw ExitCode(Exit.failed) }
    }

    /// How long a request takes.
    private func reached(_ arbiter: Arbiter) async throws -> String {
        var times: [Duration] = []
        for _ in 0..<Self.samples {
            let begun = ContinuousClock.now
            _ = try await arbiter.sendOnce(WireRequest("GET", "/livez", timeout: WireTimes.margin)).accepted()
            times.append(.now - begun)
        }
        let median = (times.sorted()[Self.samples / 2].inSeconds * 10_000).rounded() / 10
        return "\(daemon.address) answers in \(median) ms (median of \(Self.samples))"
    }

    /// The principal, its roles and scenes, and the versions.
    private func identity(_ arbiter: Arbiter) async throws -> String {
        let identity = try await arbiter.sendOnce(WireRequest("GET", "/whoami")).accepted()
        func list(_ member: String) -> String? {
            identity[member]?.array?.compactMap(\.string).joined(separator: ", ")
        }
        let principal = identity["principal"]?.string ?? "anybody"
        return "\(principal), with the roles \(list("roles") ?? "-"), in \(list("scenes") ?? "all scenes"); "
            + "arbiterd \(identity["version"]?.string ?? "-"), arbiterctl \(Tool.version)"
    }

    /// How far the daemon's clock is from this one, as far as its whole seconds tell.
    private func clock(_ arbiter: Arbiter) async throws -> (Bool, String) {
        let before = Date()
        let answer = try await arbiter.sendOnce(WireRequest("GET", "/livez", timeout: WireTimes.margin))
        let after = Date()
        guard let date = answer.date.flatMap({ HTTPDate.date($0) }) else { return (false, "the answer has no date") }
        // The daemon's time was within this second, at some moment between sending and receiving.
        let ahead = max(0, date.timeIntervalSince(after))
        let behind = max(0, before.timeIntervalSince(date.addingTimeInterval(1)))
        let distance = max(ahead, behind)
        guard distance > Self.clockTolerance else { return (true, "the same, to the second") }
        return (false, "the daemon's is \(distance.inTenths) s \(ahead > 0 ? "ahead of" : "behind") this one")
    }
}
