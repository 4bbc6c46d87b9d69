internal import ArbiterCluster
internal import ArbiterEngine

/// The queues of a process, whose threads run one at a time.
final class SimulatedWorkers: Workers {
    private let process: Process
    /// The threads that wait, in the order in which they began to.
    private let waiting = Guarded<[Baton.Runner]>([])

    init(_ process: Process) { self.process = process }

    func queue(_ name: String, isUrgent: Bool) -> any WorkQueue { Queue(self) }

    func bell() -> any WaitingBell { Bell(self) }

    /// How long the system takes to let a thread run.
    private func soon(_ body: @escaping @Sendable () -> Void) {
        let world = process.world
        world.timeline.schedule(after: world.chance.duration(.zero ... .microseconds(300)), in: process, body)
    }

    private func wait() {
        guard let runner = process.world.baton.current else {
            preconditionFailure("something waits where the simulation itself runs")
        }
        waiting.withLock { $0.append(runner) }
        process.world.baton.pass(runner)
    }

    private func resume(_ runner: Baton.Runner) {
        let isWaiting = waiting.withLock { waiting in
            guard let index = waiting.firstIndex(where: { $0 === runner }) else { return false }
            waiting.remove(at: index)
            return true
        }
        if isWaiting { process.world.baton.give(runner) }
    }

    /// Lets every thread of a dead process come to its end.
    func endAll() {
        while let runner = waiting.withLock({ $0.first }) { resume(runner) }
    }

    private final class Queue: WorkQueue {
        private let workers: SimulatedWorkers
        private let state = Guarded((works: [@Sendable () -> Void](), isBusy: false))

        init(_ workers: SimulatedWorkers) { self.workers = workers }

        func add(_ work: @escaping @Sendable () -> Void) {
            let isFirst = state.withLock { state in
                state.works.append(work)
                defer { state.isBusy = true }
                return !state.isBusy
            }
            guard isFirst else { return }
            workers.soon { [self] in workers.process.world.baton.begin { [self] in doEverything() } }
        }

        private func doEverything() {
            while let work = next() { work() }
        }

        private func next() -> (@Sendable () -> Void)? {
            let isDead = workers.process.isDead
            return state.withLock { state in
                guard !isDead, !state.works.isEmpty else {
                    state.isBusy = false
                    return nil
                }
                return state.works.removeFirst()
            }
        }
    }

    private final class Bell: WaitingBell {
        private let workers: SimulatedWorkers
        private let state = Guarded((rings: 0, runner: Baton.Runner?.none))

        init(_ workers: SimulatedWorkers) { self.workers = workers }

        func ring() {
            let runner = state.withLock { state -> Baton.Runner? in
                defer { state.runner = nil }
                if state.runner == nil { state.rings += 1 }
                return state.runner
            }
            guard let runner, !workers.process.isDead else { return }
            workers.soon { [self] in workers.resume(runner) }
        }

        func wait() {
            guard !workers.process.isDead else { return }
            let runner = workers.process.world.baton.current
            let hasRung = state.withLock { state in
                guard state.rings == 0 else {
                    state.rings -= 1
                    return true
                }
                state.runner = runner
                return false
            }
            if !hasRung { workers.wait() }
        }
    }
}
