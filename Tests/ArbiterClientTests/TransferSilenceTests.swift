#if os(Linux)
    import ArbiterEngine
    import ArbiterTestKit
    import ArbiterTransfers
    import Testing

    /// Answers of which nothing comes any more, while their connections stand.
    final class TransferSilenceTests: Sendable {
        private let loop = TransferLoop()

        deinit { loop.close() }

        /// Why a transfer has ended, and what came before.
        private func follow(
            _ path: String, limit: TransferRequest.Limit
        ) async throws -> (failure: TransferFailure?, text: String) {
            let daemon = try await DaemonProcess.started(["--journal", "memory"])
            let request = TransferRequest("http://127.0.0.1:\(daemon.port)\(path)", limit: limit)
            let text = Guarded("")
            let failure = await withCheckedContinuation { ended in
                loop.begin(request) { event in
                    switch event {
                    case .head: break
                    case .bytes(let bytes): text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
                    case .ended(let failure): ended.resume(returning: failure)
                    }
                }
            }
            return (failure, text.withLock { $0 })
        }

        @Test func `the head of an answer says for how long nothing may come after it`() async throws {
            let said = Guarded<[String?]>([])
            let limit = TransferRequest.Limit.silence(.seconds(600)) { head in
                said.withLock { $0.append(head.value(of: Heartbeat.field)) }
                return .milliseconds(900)
            }
            let (failure, text) = try await follow("/events", limit: limit)
            #expect(failure == TransferFailure(reason: "nothing came for 0.9 s", wasSent: true))
            #expect(text.hasPrefix(": connected"))
            #expect(said.withLock { $0 } == ["15"])
        }

        @Test func `an answer that is whole has no silence`() async throws {
            let (failure, text) = try await follow("/livez", limit: .silence(.seconds(600)))
            #expect(failure == nil)
            #expect(text.contains("live"))
        }
    }
#endif
