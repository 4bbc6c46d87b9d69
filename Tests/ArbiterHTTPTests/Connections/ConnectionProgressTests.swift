import Testing

@testable import ArbiterHTTP

/// When a request takes too long.
struct ConnectionProgressTests {
    private let beginning = ContinuousClock.now
    private var progress: ConnectionProgress

    init() {
        progress = ConnectionProgress(acceptedAt: beginning)
    }

    private mutating func isOverdue(after seconds: Int, received: UInt64 = 0) -> Bool {
        progress.isOverdue(at: beginning + .seconds(seconds), ServerLimits(parked: 1)) { received }
    }

    @Test mutating func `the first head has ten seconds from the beginning of the connection, whatever comes`() {
        #expect(isOverdue(after: 9, received: 1) == false)
        #expect(isOverdue(after: 9, received: 5) == false)
        #expect(isOverdue(after: 10, received: 6) == true)
    }

    @Test mutating func `a body has thirty seconds from the end of its head`() {
        progress.headIsWhole(at: beginning + .seconds(9))
        #expect(isOverdue(after: 38) == false)
        #expect(isOverdue(after: 39) == true)
    }

    @Test mutating func `an answer may take as long as it wants`() {
        progress.headIsWhole(at: beginning)
        progress.requestIsWhole()
        #expect(isOverdue(after: 3600) == false)
    }

    @Test mutating func `a connection that is silent between requests is not slow, and one that has begun a head is`() {
        progress.headIsWhole(at: beginning)
        progress.requestIsWhole()
        progress.answerHasLeft(.bytes(100)) { 0 }
        #expect(isOverdue(after: 50, received: 100) == false)
        #expect(isOverdue(after: 51, received: 101) == false)
        #expect(isOverdue(after: 60, received: 109) == false)
        #expect(isOverdue(after: 61, received: 110) == true)
    }

    @Test mutating func `what came with the request before counts as the head's beginning`() {
        progress.headIsWhole(at: beginning)
        progress.requestIsWhole()
        progress.answerHasLeft(.bytes(100)) { 0 }
        #expect(isOverdue(after: 1, received: 130) == false)
        #expect(isOverdue(after: 11, received: 130) == true)
    }

    @Test mutating func `behind a body in chunks everything that has come belongs to it`() {
        progress.headIsWhole(at: beginning)
        progress.requestIsWhole()
        progress.answerHasLeft(.unknown) { 130 }
        #expect(isOverdue(after: 1, received: 130) == false)
        #expect(isOverdue(after: 40, received: 130) == false)
        #expect(isOverdue(after: 41, received: 131) == false)
        #expect(isOverdue(after: 51, received: 131) == true)
    }
}
