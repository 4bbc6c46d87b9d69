#if os(Linux)
    import ArbiterEngine
    import ArbiterTestKit
    import ArbiterTransfers
    import Dispatch
    import Testing

    /// Requests by libcurl.
    struct TransferTests {
        /// The result of a request.
        private func fetch(
            _ request: TransferRequest, by loop: TransferLoop
        ) -> Result<TransferAnswer, TransferFailure>? {
            let done = DispatchSemaphore(value: 0)
            let result = Guarded(Result<TransferAnswer, TransferFailure>?.none)
            loop.fetch(request) { found in
                result.withLock { $0 = found }
                done.signal()
            }
            done.wait()
            return result.withLock { $0 }
        }

        private func request(_ path: String, to server: StubServer, _ body: String) -> TransferRequest {
            var request = TransferRequest(server.address + path, limit: .whole(.seconds(20)))
            request.method = "POST"
            request.body = Array(body.utf8)
            return request
        }

        @Test(arguments: ["", "body"])
        func `what must not be sent twice is not, although a kept connection breaks`(body: String) throws {
            let server = StubServer { $0.target == "/break" ? .close : .answer(status: 200) }
            defer { server.stop() }
            let loop = TransferLoop()
            defer { loop.closeAndWait() }
            for _ in 0..<2 {
                // Leaves a connection that is used again.
                _ = try fetch(request("/keep", to: server, "x"), by: loop)?.get()
                var asked = request("/break", to: server, body)
                asked.mayBeSentTwice = false
                guard case .failure(let failure) = fetch(asked, by: loop) else {
                    Issue.record("there is an answer")
                    return
                }
                #expect(failure.wasSent)
            }
            #expect(server.requests.count { $0.target == "/break" } == 2)
        }

        @Test func `what may be sent twice is, when a kept connection breaks`() throws {
            let breaks = Guarded(1)
            let server = StubServer { request in
                let isBroken =
                    request.target == "/break"
                    && breaks.withLock { count in
                        count -= 1
                        return count == 0
                    }
                return isBroken ? .close : .answer(status: 200)
            }
            defer { server.stop() }
            let loop = TransferLoop()
            defer { loop.closeAndWait() }
            _ = try fetch(request("/keep", to: server, "x"), by: loop)?.get()
            #expect(try fetch(request("/break", to: server, ""), by: loop)?.get().head.status == 200)
            #expect(server.requests.count { $0.target == "/break" } == 2)
        }

        @Test func `a stream that is silent for too long has failed, whatever came before`() throws {
            let server = StubServer { _ in .beginning(fields: ["Content-Type: text/plain"], body: "something") }
            defer { server.stop() }
            let loop = TransferLoop()
            defer { loop.closeAndWait() }
            let begun = ContinuousClock.now
            let result = fetch(TransferRequest(server.address + "/", limit: .silence(.milliseconds(300))), by: loop)
            guard case .failure(let failure) = result else {
                Issue.record("there is an end")
                return
            }
            #expect(failure.wasSent)
            #expect(failure.reason.hasPrefix("nothing came for"))
            #expect(begun.duration(to: .now) >= .milliseconds(300))
        }

        @Test func `what is paused is not received, is not silent for too long, and goes on`() throws {
            let body = String(repeating: "x", count: 8 << 20)
            let server = StubServer { request in
                switch request.target {
                case "/long": .answer(status: 200, body: body)
                case "/silent": .silence
                default: .answer(status: 200)
                }
            }
            defer { server.stop() }
            let loop = TransferLoop()
            defer { loop.closeAndWait() }
            let limit = TransferRequest.Limit.silence(.seconds(1))
            let (isNumberKnown, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let number = Guarded(0)
            let received = Guarded(0)
            let failure = Guarded(TransferFailure?.none)
            let begun = loop.begin(TransferRequest(server.address + "/long", limit: limit)) { event in
                switch event {
                case .head:
                    isNumberKnown.wait()
                    loop.pause(number.withLock { $0 })
                case .bytes(let bytes): received.withLock { $0 += bytes.count }
                case .ended(let found):
                    failure.withLock { $0 = found }
                    done.signal()
                }
            }
            number.withLock { $0 = begun }
            isNumberKnown.signal()
            // Commands are carried out in their order: when another transfer has ended, this one is paused.
            try #require(eventually { received.withLock { $0 } > 0 })
            _ = try fetch(request("/", to: server, ""), by: loop)?.get()
            let before = received.withLock { $0 }
            #expect(before < body.utf8.count)
            for _ in 0..<20 { _ = try fetch(request("/", to: server, ""), by: loop)?.get() }
            guard case .failure = fetch(TransferRequest(server.address + "/silent", limit: limit), by: loop) else {
                Issue.record("there is an end")
                return
            }
            #expect(received.withLock { $0 } == before)
            loop.resume(begun)
            done.wait()
            #expect(failure.withLock { $0 } == nil)
            #expect(received.withLock { $0 } == body.utf8.count)
        }

        @Test func `a transfer that is ended fails, and says whether it was sent`() throws {
            let server = StubServer { _ in .silence }
            defer { server.stop() }
            let loop = TransferLoop()
            defer { loop.closeAndWait() }
            let done = DispatchSemaphore(value: 0)
            let result = Guarded(TransferFailure?.none)
            let number = loop.fetch(request("/", to: server, "x")) { found in
                if case .failure(let failure) = found { result.withLock { $0 = failure } }
                done.signal()
            }
            try #require(eventually { !server.requests.isEmpty })
            loop.fail(number, because: "enough")
            done.wait()
            #expect(result.withLock { $0 } == TransferFailure(reason: "enough", wasSent: true))
        }
    }
#endif
