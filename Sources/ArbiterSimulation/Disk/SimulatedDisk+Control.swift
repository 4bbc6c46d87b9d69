internal import ArbiterEngine
internal import ArbiterTestKit

// What a simulation does with its disk.

/// A bit that was flipped.
struct FlippedBit {
    let name: String
    fileprivate let number: Int
    fileprivate let offset: Int
    fileprivate let bit: Int
}

extension SimulatedDisk {
    /// Whether the process has been killed by an operation.
    var isDead: Bool { state.withLock { $0.isDead } }
    /// How often an operation has failed.
    package var mishaps: Int { state.withLock { $0.mishaps } }
    /// What was done last, for people to read.
    var recent: [String] { state.withLock { $0.recent } }

    /// Has one of the next operations go wrong.
    ///
    /// - Parameters:
    ///   - trouble: what happens.
    ///   - count: to which operation from now on; 1 is the next.
    package func plan(_ trouble: Trouble, at count: Int) { state.withLock { $0.plan = (count, trouble) } }

    /// Has all operations go well again, and gives back the room.
    package func calm() { state.withLock { ($0.plan, $0.room) = (nil, nil) } }

    /// Sets how many bytes more there is room for.
    package func limit(toRoom bytes: Int) { state.withLock { $0.room = bytes } }

    /// Ends the process, whose files are of no use any more.
    package func killProcess() { state.withLock { $0.isDead = true } }

    /// Begins another process.
    package func beginProcess() {
        state.withLock { state in
            state.process += 1
            state.isDead = false
            state.removeNameless()
        }
    }

    /// Kills the machine; what was not synchronized may be lost.
    package func killMachine() {
        state.withLock { state in
            state.isDead = true
            state.recent.append("the machine dies")
            state.loseWhatIsNotKept()
        }
    }

    /// Flips a bit in a log or a snapshot; `nil` if there is none.
    func flipBit() -> FlippedBit? {
        state.withLock { state in
            let names = state.names.keys.filter { !$0.hasSuffix(".new") && !$0.hasPrefix("torn") }.sorted()
            guard let name = names.randomElement(using: &state.chance), let number = state.names[name],
                let size = state.files[number]?.seen.count, size > 0
            else { return nil }
            var offset = Int.random(in: 0..<size, using: &state.chance)
            // More often than by chance in what is behind the last zeros, which is where it is hard to tell.
            let end = (state.files[number]?.seen.lastIndex { $0 != 0 } ?? 0) + 1
            if state.chance.isOnce(in: 2) { offset = max(0, end - 1 - Int.random(in: 0..<300, using: &state.chance)) }
            let flipped = FlippedBit(
                name: name, number: number, offset: offset, bit: Int.random(in: 0..<8, using: &state.chance))
            state.files[number]?.flip(flipped.bit, at: offset)
            state.recent.append("bit \(flipped.bit) of byte \(offset) in \(name) flips")
            return flipped
        }
    }

    /// Flips a bit back.
    func mend(_ flipped: FlippedBit) {
        state.withLock { $0.files[flipped.number]?.flip(flipped.bit, at: flipped.offset) }
    }
}
