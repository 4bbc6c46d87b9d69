import Testing

@testable import ArbiterHTTP

/// Which connection is closed to make room for another.
struct ConnectionPlacesTests {
    private var places = ConnectionPlaces(ordinary: 2, reserve: 1)

    @Test mutating func `the oldest that has never completed a request makes room for a new one`() {
        #expect(places.admit(1) == .admitted)
        #expect(places.admit(2) == .admitted)
        #expect(places.admit(3) == .replacing(1))
        #expect(places.admit(4) == .replacing(2))
        #expect(places.claimOrdinaryPlace(4) == true)
    }

    @Test mutating func `one that has completed a request keeps its place, and a new one gets the reserve`() {
        for id in 1...2 as ClosedRange<UInt64> {
            #expect(places.admit(id) == .admitted)
            places.establish(id)
        }
        #expect(places.admit(3) == .admitted)
        #expect(places.claimOrdinaryPlace(1) == true)
        #expect(places.claimOrdinaryPlace(3) == false)
        #expect(places.admit(4) == .replacing(3))
        places.establish(4)
        #expect(places.admit(5) == .refused)
    }

    @Test mutating func `a place that becomes free goes to who is in the reserve and asks for it`() {
        for id in 1...3 as ClosedRange<UInt64> {
            #expect(places.admit(id) == .admitted)
            places.establish(id)
        }
        #expect(places.claimOrdinaryPlace(3) == false)
        places.leave(1)
        #expect(places.claimOrdinaryPlace(3) == true)
        #expect(places.admit(4) == .admitted)
        #expect(places.claimOrdinaryPlace(4) == false)
    }

    @Test mutating func `who has made room leaves no second place behind`() {
        #expect(places.admit(1) == .admitted)
        #expect(places.admit(2) == .admitted)
        #expect(places.admit(3) == .replacing(1))
        places.leave(1)
        #expect(places.admit(4) == .replacing(2))
        for id in [3, 4] as [UInt64] { places.leave(id) }
        #expect(places.isEmpty)
    }

    @Test func `of thousands that come and complete a request none is taken for a stranger`() {
        var places = ConnectionPlaces(ordinary: 3, reserve: 0)
        #expect(places.admit(1) == .admitted)
        for id in 2...5000 as ClosedRange<UInt64> {
            #expect(places.admit(id) == .admitted)
            places.establish(id)
            places.leave(id)
        }
        #expect(places.admit(5001) == .admitted)
        #expect(places.admit(5002) == .admitted)
        #expect(places.admit(5003) == .replacing(1))
    }
}
