// Copies of the state between a single daemon and the shards of a cluster.

/// The state of a shard, or of a single daemon, after the last record of its journal.
package struct ShardState: Sendable {
    package internal(set) var machine: ArbiterStateMachine
    /// The number of the last record; 0 if there is none.
    package let sequence: UInt64
    /// The moment of the last record, from which the arbiter's clock continues; `nil` if there is none.
    package let moment: Moment?

    package init(machine: ArbiterStateMachine, sequence: UInt64, moment: Moment?) {
        (self.machine, self.sequence, self.moment) = (machine, sequence, moment)
    }

    /// How much it has, as the state of a shard.
    package func counts(in shard: Shard) -> ShardCounts {
        let durable = machine.durable
        let guests = durable.sessions.keys.count { !shard.contains($0.slot) }
        return ShardCounts(
            scenes: durable.scenes.count, unfinished: durable.unfinishedCount, ended: durable.ended.count,
            sessions: durable.sessions.count - guests, guests: guests)
    }
}

/// How much a shard has.
package struct ShardCounts: Hashable, Sendable {
    package var scenes = 0
    /// The transitions that wait or hold.
    package var unfinished = 0
    /// The remembered transitions that have ended.
    package var ended = 0
    /// The sessions that are at home in it.
    package var sessions = 0
    /// The sessions of other shards that are used in it.
    package var guests = 0

    package static let none = ShardCounts()

    package static func + (left: ShardCounts, right: ShardCounts) -> ShardCounts {
        ShardCounts(
            scenes: left.scenes + right.scenes, unfinished: left.unfinished + right.unfinished,
            ended: left.ended + right.ended, sessions: left.sessions + right.sessions,
            guests: left.guests + right.guests)
    }
}

/// Why a state cannot be copied.
package enum CopyRefusal: Error, Hashable, Sendable {
    /// Several shards know the same transition.
    case known(TransitionID)
    /// What was put together contradicts itself.
    case contradiction(String)
}

extension DurableState {
    /// The same state with everything that follows from it: tables, queues and sizes, read anew from its binary form.
    func completed() throws(CopyRefusal) -> DurableState {
        var writer = BinaryWriter()
        writer.write(self)
        var reader = BinaryReader(writer.bytes)
        do throws(BinaryDecodingError) {
            let completed: DurableState = try reader.read()
            guard reader.isAtEnd else { throw reader.malformed("the end of a snapshot") }
            return completed
        } catch {
            throw .contradiction(error.subject)
        }
    }

    /// The transitions that have ended, in the order of their ends.
    var endedTransitions: [Transition] { ended.compactMap { transitions[$0.id] } }
}

extension ArbiterStateMachine {
    init(_ durable: DurableState, limits: Limits) {
        self.init(limits: limits)
        self.durable = durable
    }
}
