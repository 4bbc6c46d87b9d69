import ArbiterTestKit
import Foundation
import Glibc
import Testing

extension Integration {
    /// Journals damaged at random: each is read as it was written, or refused with advice, and no process traps.
    ///
    /// `make damage` runs more of them; `ARBITER_SEED` and `ARBITER_DAMAGES` set the seed and the number.
    @Suite struct Damages {
        private static let count =
            ProcessInfo.processInfo.environment["ARBITER_DAMAGES"].flatMap { Int($0) } ?? 100
        private static let seed = Seeds.night ?? 11

        private struct Figures {
            var (whole, noticed, unnoticed, refused, started) = (0, 0, 0, 0, 0)
        }

        @Test func `a damaged journal never traps and never loses an answer without a word`() throws {
            var random = SplitMix64(seed: Self.seed)
            let samples = try SoundJournal.samples(seed: Self.seed)
            let history = try SoundJournal.history(seed: Self.seed)
            var figures = Figures()
            for number in 0..<Self.count {
                let (sample, other) = (samples[number % samples.count], samples[(number + 1) % samples.count])
                try look(at: sample.damaged(with: other, using: &random), history, &figures)
            }
            print(
                "damage: seed \(Self.seed), \(Self.count) kinds: \(figures.whole) read whole, \(figures.noticed) with a "
                    + "loss that is told, \(figures.unnoticed) with a lost end that looks like a kill, \(figures.refused) "
                    + "refused; \(figures.started) of them were started on")
        }

        /// The output of a process about a journal; the process may neither trap nor hang.
        private func ask(
            _ arguments: [String], _ damaged: DamagedJournal
        ) throws -> (isRead: Bool, output: String, errors: String) {
            let process = try ChildProcess("arbiterd", arguments + ["--data", damaged.directory.path])
            let status = try process.waitForExit()
            let errors = process.standardError
            let allowed = [EX_OK, EX_DATAERR, EX_CONFIG].map(Termination.exited)
            #expect(allowed.contains(status), "\(damaged.text): \(arguments) \(status): \(errors)")
            if status != .exited(EX_OK) {
                #expect(errors.split(separator: "\n").count == 1, "\(damaged.text): \(errors)")
            }
            return (status == .exited(EX_OK), process.restOfOutput, errors)
        }

        private func look(
            at damaged: DamagedJournal, _ history: [Substring], _ figures: inout Figures
        ) throws {
            let verified = try ask(["journal", "verify"], damaged)
            _ = try ask(["journal", "inspect"], damaged)
            let exported = try ask(["journal", "export"], damaged)
            let lines = exported.output.split(separator: "\n")
            let started = try start(damaged)
            guard exported.isRead else {
                #expect(!verified.isRead, "\(damaged.text)")
                #expect(started == nil, "\(damaged.text): refused by export, and started: \(started ?? "")")
                figures.refused += 1
                return
            }
            guard let started else {
                Issue.record("\(damaged.text): read by export, and not started")
                return
            }
            figures.started += 1
            // If there is a snapshot, the records begin after it.
            let first = lines.first.flatMap { history.firstIndex(of: $0) } ?? 0
            let isTrue = lines == Array(history[first...].prefix(lines.count))
            #expect(isTrue, "\(damaged.text): other records than were written")
            if first + lines.count == damaged.origin.records {
                figures.whole += 1
            } else if !verified.isRead, started.contains("torn") || started.contains("missing") {
                figures.noticed += 1
            } else {
                #expect(damaged.isCut, "\(damaged.text): \(lines.count) of \(damaged.origin.records) records")
                figures.unnoticed += 1
            }
        }

        /// Starts the daemon and ends it again.
        ///
        /// - Returns: its log; `nil` if it refused.
        private func start(_ damaged: DamagedJournal) throws -> String? {
            let process = try ChildProcess(
                "arbiterd", ["--listen", "127.0.0.1:0", "--data", damaged.directory.path])
            do {
                _ = try process.readLine()
            } catch {
                let status = try process.waitForExit()
                let errors = process.standardError.split(separator: "\n")
                let isRefusal = [EX_DATAERR, EX_CONFIG].contains { .exited($0) == status }
                #expect(isRefusal && errors.count == 1, "\(damaged.text): \(status): \(errors)")
                return nil
            }
            process.signal(SIGTERM)
            #expect(try process.waitForExit() == .exited(EX_OK), "\(damaged.text)")
            return process.standardError
        }
    }
}
