internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterTestKit

/// One process of the daemon: the engine and its surroundings.
struct Process {
    let engine: Engine
    let time: SimulatedTime
    let alarm: SimulatedAlarm
    let mailbox: Mailbox
    /// How far the arbiter's clock is ahead of `time`, because it continues from the last record.
    let offset: Duration
    let trustsLeasesOver: Bool
    /// Counts how often the engine has opened the journal again.
    var era = 0

    /// Starts a process with an open journal.
    ///
    /// - Throws: `JournalError` if the journal cannot be read.
    init(
        _ configuration: SimulationSettings, _ journal: SimulatedJournal, _ machine: MachineClock, seed: UInt64,
        trustsLeasesOver: Bool = false
    ) throws(JournalError) {
        let time = SimulatedTime(machine)
        let mailbox = Mailbox()
        self.time = time
        self.mailbox = mailbox
        self.trustsLeasesOver = trustsLeasesOver
        alarm = SimulatedAlarm(machine)
        offset = journal.opened.moment.map { time.instant.duration(to: $0.instant) } ?? .zero
        let repeater = EventRepeater(isAtWork: configuration.fault == .repeatedEvent, seed: seed)
        engine = try Engine(
            limits: configuration.limits, journal: journal,
            recovery: JournalRecovery {
                () throws(JournalError) in
                try journal.open()
                return journal
            } whenResumed: { events in
                mailbox.post(.resumed(scenes: events.scenes, overall: events.overall))
            } whenLost: { error in
                mailbox.post(.lost(error))
            },
            earlierClients: trustsLeasesOver ? .gone : .anywhere, time: time, alarm: alarm,
            random: SplitMix64(seed: seed),
            listener: { mailbox.post(.events(repeater.pass($0))) }, observer: { mailbox.post(.notice($0)) })
    }
}

/// The planted fault that gives some events the numbers of the events before them.
private final class EventRepeater: Sendable {
    private let chance: Guarded<SplitMix64>
    private let isAtWork: Bool

    init(isAtWork: Bool, seed: UInt64) {
        self.isAtWork = isAtWork
        chance = Guarded(SplitMix64(seed: seed))
    }

    func pass(_ events: [SceneEvent]) -> [SceneEvent] {
        guard isAtWork, chance.withLock({ $0.isOnce(in: 20) }) else { return events }
        return events.map { event in
            guard let number = event.number else { return event }
            return SceneEvent(
                scene: event.scene, number: EventNumber(rawValue: number.rawValue - 1), overall: event.overall,
                timestamp: event.timestamp, kind: event.kind)
        }
    }
}
