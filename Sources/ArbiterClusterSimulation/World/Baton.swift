internal import ArbiterEngine
internal import Dispatch
internal import Foundation

/// Has threads run one at a time: the simulation gives the baton to one, which gives it back when it waits or has ended.
///
/// The code of a node waits for answers of etcd in the middle of functions. So it needs threads of its own, but which of
/// them runs, and when, is the simulation's choice alone.
final class Baton: Sendable {
    private struct State {
        var current: Runner?
        var idle: [Runner] = []
    }

    private let state = Guarded(State())
    private let back = DispatchSemaphore(value: 0)

    /// The thread that has the baton; `nil` if that is the simulation itself.
    var current: Runner? { state.withLock { $0.current } }

    /// Begins some work on a thread, and returns when that waits or has ended.
    func begin(_ work: @escaping @Sendable () -> Void) {
        let runner = state.withLock { $0.idle.popLast() } ?? Runner(self)
        runner.take(work)
        give(runner)
    }

    /// Gives the baton to a thread that waits.
    func give(_ runner: Runner) {
        state.withLock { $0.current = runner }
        runner.go.signal()
        back.wait()
        state.withLock { $0.current = nil }
    }

    /// Gives the baton back, and waits for it; to be called by the thread that has it.
    func pass(_ runner: Runner) {
        back.signal()
        runner.go.wait()
    }

    /// Ends every thread; to be called when none of them waits within some work.
    func end() {
        let idle = state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
        for runner in idle { runner.end() }
    }

    /// A thread of its own.
    final class Runner: Sendable {
        private struct State {
            var work: (@Sendable () -> Void)?
            var isOver = false
        }

        let go = DispatchSemaphore(value: 0)
        private let state = Guarded(State())

        init(_ baton: Baton) {
            let thread = Thread { [self] in run(baton) }
            thread.stackSize = 4 << 20
            thread.start()
        }

        func take(_ work: @escaping @Sendable () -> Void) { state.withLock { $0.work = work } }

        func end() {
            state.withLock { $0.isOver = true }
            go.signal()
        }

        private func run(_ baton: Baton) {
            while true {
                go.wait()
                let work = state.withLock { state in
                    defer { state.work = nil }
                    return state.isOver ? nil : state.work
                }
                guard let work else { return }
                work()
                baton.state.withLock { $0.idle.append(self) }
                baton.back.signal()
            }
        }
    }
}
