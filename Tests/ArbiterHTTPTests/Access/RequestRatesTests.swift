import Testing

@testable import ArbiterHTTP

struct RequestRatesTests {
    private let start = ContinuousClock.now

    private func at(_ seconds: Double) -> ContinuousClock.Instant { start.advanced(by: .seconds(seconds)) }

    @Test func `a client may make the requests of a second at once, and then as many as time passes`() {
        var rates = RequestRates(perSecond: 10)
        for _ in 0..<10 { #expect(rates.take("a", at: start) == nil) }
        #expect(rates.take("a", at: start) == .seconds(0.1))
        #expect(rates.take("b", at: start) == nil)
        #expect(rates.take("a", at: at(0.05)) == .seconds(0.05))
        #expect(rates.take("a", at: at(0.11)) == nil)
        #expect(rates.take("a", at: at(0.12)) != nil)
        // No more gathers than those of a second.
        for _ in 0..<10 { #expect(rates.take("a", at: at(60)) == nil) }
        #expect(rates.take("a", at: at(60)) != nil)
    }

    @Test func `of clients that make no requests, nothing is kept for long`() {
        var rates = RequestRates(perSecond: 1)
        for client in 0..<RequestRates.clients { _ = rates.take("\(client)", at: start) }
        #expect(rates.take("busy", at: at(0.5)) == nil)
        #expect(rates.count == 1, "all of them were forgotten, since none was silent")
        for client in 0..<RequestRates.clients - 1 { _ = rates.take("\(client)", at: at(1)) }
        #expect(rates.take("late", at: at(1.6)) == nil)
        #expect(rates.count <= RequestRates.clients)
        #expect(rates.take("5", at: at(1.6)) != nil, "it made a request 0.6 seconds ago")
    }
}
