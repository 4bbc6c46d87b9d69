internal import ArbiterCore
package import ArbiterEngine

/// The threads that serve the connections of a process.
///
/// They let the alarms of its engines ring, put off the engines' commits to the end of their rounds, and know whether words of
/// clients lie in sockets because they are busy. What lies in a connection that is not accepted yet, or behind a request that is
/// not answered yet, is not known.
package final class ServingLoops: Sendable {
    let all: [ServingLoop]

    /// Starts so many threads.
    package init(count: Int) {
        precondition(count > 0, "somebody has to serve")
        all = (0..<count).map { _ in ServingLoop() }
        for loop in all { loop.start() }
    }

    /// How many descriptors so many threads need for themselves and for libmicrohttpd, which needs twice as many while a
    /// certificate is replaced.
    package static func descriptors(count: Int, listeners: Int) -> Int { 2 * count * (1 + listeners) }

    /// The one that accepts connections.
    var first: ServingLoop { all[0] }

    private var current: ServingLoop? { all.first(where: \.isCurrent) }

    /// Ends the threads; to be called after every server has stopped that they serve.
    package func stop() {
        for loop in all { loop.stop() }
    }
}

extension ServingLoops: Hearing {
    package var lag: Duration { .nanoseconds(all.map(\.lag).max() ?? 0) }
}

extension ServingLoops: Alarm {
    package func ring(after delay: Duration, _ bell: @escaping @Sendable () -> Void) {
        (current ?? first).ring(after: Int64(clamping: delay.wholeNanoseconds), bell)
    }
}

extension ServingLoops: Rounds {
    package func putOffCommit(of engine: Engine) -> Bool { current?.putOffCommit(of: engine) ?? false }
}
