internal import ArbiterEngine
internal import ArbiterTransfers
internal import Foundation

extension EtcdGateway {
    /// For how long a watch may be silent; then it is begun anew, because the connection may be dead.
    private static let silence = Duration.seconds(60)
    /// A member without a leader says so at once, instead of being silent.
    private static let needsLeader = "Grpc-Metadata-hasleader: true"

    package func watch(
        _ range: EtcdRange, changed: @escaping @Sendable () -> Void, ended: @escaping @Sendable () -> Void
    ) -> any EtcdWatch {
        let watch = GatewayWatch(loop: loop, changed: changed, ended: ended)
        guard
            let message = try? JSONEncoder().encode(
                EtcdWatchMessage(createRequest: EtcdTransactionMessage.Range(range)))
        else { preconditionFailure("a range that cannot be encoded") }
        let endpoint = currentEndpoint
        var request = self.request("/v3/watch", [UInt8](message), to: endpoint, limit: .silence(Self.silence))
        request.fields.append(Self.needsLeader)
        watch.begin(request) { [weak self] in self?.askNext(after: endpoint) }
        return watch
    }
}

/// A watch by a stream of lines.
private final class GatewayWatch: EtcdWatch {
    private struct State {
        var number: TransferLoop.Number?
        var rest: [UInt8] = []
        var isOver = false
    }

    private let loop: TransferLoop
    private let changed: @Sendable () -> Void
    private let ended: @Sendable () -> Void
    private let state = Guarded(State())

    init(loop: TransferLoop, changed: @escaping @Sendable () -> Void, ended: @escaping @Sendable () -> Void) {
        (self.loop, self.changed, self.ended) = (loop, changed, ended)
    }

    func begin(_ request: TransferRequest, whenFailed: @escaping @Sendable () -> Void) {
        let number = loop.begin(request) { [self] event in
            switch event {
            case .head: break
            case .bytes(let bytes): take(bytes)
            case .ended:
                whenFailed()
                end()
            }
        }
        let isOver = state.withLock { state in
            state.number = number
            return state.isOver
        }
        if isOver { loop.cancel(number) }
    }

    func cancel() {
        let number = state.withLock { state in
            state.isOver = true
            return state.number
        }
        if let number { loop.cancel(number) }
    }

    private func take(_ bytes: [UInt8]) {
        let lines = state.withLock { state -> [ArraySlice<UInt8>] in
            state.rest += bytes
            guard !state.isOver, let end = state.rest.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
            defer { state.rest.removeSubrange(...end) }
            return state.rest[..<end].split(separator: UInt8(ascii: "\n"))
        }
        for line in lines {
            guard let answer = try? JSONDecoder.ofEtcd().decode(EtcdWatchAnswer.self, from: Data(line)), !answer.isEnd
            else {
                return end()
            }
            if answer.isChange { changed() }
        }
    }

    private func end() {
        let isFirst = state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
        guard isFirst else { return }
        cancel()
        ended()
    }
}
