internal import ArbiterCore
internal import ArbiterEngine
package import ArbiterRelay
internal import Logging

/// How much room etcd has.
package enum EtcdRoom: Hashable, Sendable {
    case enough
    /// The file of a member is 60 % of the quota, so an operator should look.
    case low
    /// What is stored is 80 % of the quota. Nothing new is admitted, so that what is unfinished can still end.
    case short

    /// The part of the quota, in percent, from which it is low.
    package static let lowPercentage = 60
    /// The part of the quota, in percent, from which it is short.
    package static let shortPercentage = 80

    /// - Parameters:
    ///   - size: what a member stores.
    ///   - quota: the bytes that it may store.
    package init(_ size: StoredSize, of quota: Int) {
        // Room within the file is used again, so a large file alone stops nothing.
        if size.used >= quota / 100 * Self.shortPercentage {
            self = .short
        } else {
            self = size.file >= quota / 100 * Self.lowPercentage ? .low : .enough
        }
    }
}

extension ClusterNode {
    /// How often etcd is asked how much it stores.
    static let measureEvery = Duration.seconds(10)

    /// Asks etcd how much it stores, if that is due, and tells the host when that changes what may be admitted.
    func measureIfDue() {
        let now = time.now().instant
        let isDue = state.withLock { state in
            guard state.measurement.map({ now >= $0 }) ?? true else { return false }
            state.measurement = now.advanced(by: Self.measureEvery)
            return true
        }
        guard isDue else { return }
        etcd.measure(within: Self.patience) { [weak self] result in
            guard case .success(let size) = result else { return }
            self?.note(size)
        }
    }

    private func note(_ size: StoredSize) {
        let room = EtcdRoom(size, of: settings.quota)
        let before = state.withLock { state in
            defer { state.room = room }
            return state.room
        }
        host.note(size, room)
        guard room != before else { return }
        let metadata: Logger.Metadata = [
            "used": "\(size.used)", "file": "\(size.file)", "quota": "\(settings.quota)",
        ]
        switch room {
        case .enough: logger.notice("etcd has room again", metadata: metadata)
        case .low: logger.warning("etcd will have no room soon: defragment it, or raise its quota", metadata: metadata)
        case .short: logger.error("etcd has hardly any room: nothing new is admitted", metadata: metadata)
        }
    }
}
