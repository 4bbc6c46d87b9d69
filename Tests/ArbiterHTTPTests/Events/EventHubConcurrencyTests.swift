import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Dispatch
import Foundation
import Testing

@testable import ArbiterHTTP

/// Quick and slow readers come and go while events are published: none misses an event or gets one twice.
struct EventHubConcurrencyTests {
    private static let eventCount: UInt64 = 3000

    @Test(arguments: Seeds.first(4, atNight: 40))
    func `whoever follows knows the scene in the end`(seed: UInt64) throws {
        var limits = EventLimits()
        limits.ringEvents = 64
        let world = World(hub: EventHub(limits: limits, alarm: ManualAlarm(time: ManualTime())))
        let readers = (0..<6).map { number in
            ReaderThread(world, last: Self.eventCount, seed: seed * 100 + UInt64(number))
        }
        var random = SplitMix64(seed: seed)
        var number: UInt64 = 0
        while number < Self.eventCount {
            let next = min(Self.eventCount, number + .random(in: 1...8, using: &random))
            while world.looks.wait(timeout: .now()) == .success {}
            world.commit((number + 1)...next, momentary: random.next().isMultiple(of: 3))
            number = next
            // The readers come in between.
            try #require(world.looks.wait(timeout: .now() + 60) == .success, "nobody looks, seed \(seed)")
        }
        for reader in readers {
            #expect(reader.finished.wait(timeout: .now() + 60) == .success, "seed \(seed)")
            #expect(reader.fault.withLock { $0 } == nil, "seed \(seed)")
        }
    }
}

/// A scene whose state is a number.
private final class World: Sendable {
    let hub: EventHub
    let number = Guarded(UInt64(0))
    /// Signalled whenever a reader has looked.
    let looks = DispatchSemaphore(value: 0)
    private let resets = DispatchQueue(label: "resets", attributes: .concurrent)

    init(hub: EventHub) {
        self.hub = hub
    }

    /// The state changes before its event is published.
    func commit(_ numbers: ClosedRange<UInt64>, momentary: Bool) {
        number.withLock { $0 = numbers.upperBound }
        hub.publish(SceneEvent.samples(numbers) + (momentary ? [.sample(nil)] : []))
    }

    func reset(_ completion: @escaping @Sendable (EventSnapshot?) -> Void) {
        resets.async { [self] in
            let number = number.withLock { $0 }
            completion(EventSnapshot(number: number, json: "{}"))
        }
    }
}

/// A reader until the last event; it resumes when it is cut off, and sometimes reconnects by itself.
private final class ReaderThread: Sendable {
    let finished = DispatchSemaphore(value: 0)
    let fault = Guarded<String?>(nil)

    private final class Outlet: StreamOutlet {
        let woken = DispatchSemaphore(value: 0)
        func wake() { woken.signal() }
        func cut() { woken.signal() }
    }

    init(_ world: World, last: UInt64, seed: UInt64) {
        Thread { [self] in
            var random = SplitMix64(seed: seed)
            var known: UInt64 = 0
            while known < last { live(world, &known, until: last, &random) }
            finished.signal()
        }.start()
    }

    private func live(_ world: World, _ known: inout UInt64, until last: UInt64, _ random: inout SplitMix64) {
        let outlet = Outlet()
        let subscription = world.hub.subscribe(
            to: .scene(.main), after: EventNumber(rawValue: known), outlet: outlet, reset: world.reset)
        defer { subscription.close() }
        var text = EventText()
        while known < last, !random.next().isMultiple(of: 500) {
            let piece = subscription.read(upTo: .random(in: 1...600, using: &random))
            world.looks.signal()
            switch piece {
            case .bytes(let bytes): text.append(bytes)
            case .nothing:
                guard outlet.woken.wait(timeout: .now() + 30) == .success else {
                    return note("nobody woke it behind \(known)", &known, last)
                }
            case .end, .cut: return
            }
            for event in text.takeEvents() {
                guard let id = event.id else { continue }
                if event.name == "reset" ? id < known : id != known + 1 {
                    return note("\(event.name) \(id) came behind \(known)", &known, last)
                }
                known = id
            }
        }
    }

    private func note(_ text: String, _ known: inout UInt64, _ last: UInt64) {
        fault.withLock { $0 = text }
        known = last
    }
}
