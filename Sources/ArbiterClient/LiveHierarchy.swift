internal import Synchronization

/// The hierarchy of a scene, kept by its events, for as long as this object is there.
///
/// ```swift
/// let hierarchy = try await arbiter.scene("main").hierarchy()
/// print(hierarchy.current.root?.id ?? "empty")
/// for try await next in hierarchy.changes { draw(next) }
/// ```
public final class LiveHierarchy: Sendable {
    private let kept: KeptHierarchy
    private let following: Task<Void, Never>

    init(of scene: ArbiterScene) async throws {
        let kept = KeptHierarchy()
        let last = try await kept.read(scene)
        let following = Task { await kept.follow(scene, since: last) }
        self.kept = kept
        self.following = following
        try await withTaskCancellationHandler {
            try await kept.untilOpen()
        } onCancel: {
            following.cancel()
        }
    }

    deinit { following.cancel() }

    /// The hierarchy as it is known now.
    public var current: Hierarchy { kept.current }

    /// The hierarchy now, and after every change, until `close()`; it changes too when it begins or ceases to be current.
    ///
    /// A reader that is slow gets the newest hierarchy, not each.
    ///
    /// It throws `ClientError.refused` when the daemon refuses the events for good, for example because the scene was deleted
    /// while the daemon could not be reached.
    public var changes: AsyncThrowingStream<Hierarchy, any Error> { kept.changes() }

    /// Follows no longer.
    public func close() { following.cancel() }
}

/// What follows a scene and tells its readers; apart from `LiveHierarchy`, so that the task that follows does not keep that one.
private final class KeptHierarchy: Sendable {
    private typealias Reader = AsyncThrowingStream<Hierarchy, any Error>.Continuation

    private let state = Mutex(State())

    private struct State {
        var current = Hierarchy.empty
        var readers: [Int: Reader] = [:]
        var lastReader = 0
        /// How the following ended.
        var ending: Result<Void, any Error>?
    }

    /// Finished when the stream has opened for the first time, or is followed no longer.
    private let opened = SingleResult<Void>()

    func untilOpen() async throws { try await opened.value() }

    var current: Hierarchy { state.withLock { $0.current } }

    func changes() -> AsyncThrowingStream<Hierarchy, any Error> {
        let (stream, reader) = AsyncThrowingStream<Hierarchy, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.lastReader += 1
            reader.yield(state.current)
            if let ending = state.ending { reader.finish(ending) } else { state.readers[state.lastReader] = reader }
            return state.lastReader
        }
        reader.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.readers.removeValue(forKey: number) } }
        return stream
    }

    /// Reads the scene.
    ///
    /// - Returns: the number of its last event.
    func read(_ scene: ArbiterScene) async throws -> Int {
        let document: JSONValue
        do {
            document = try await scene.read()
        } catch ClientError.refused(let refusal) where refusal.code == "unknown-scene" {
            set(.empty)
            return 0
        }
        set(Hierarchy(scene: document))
        return document["lastEvent"]?.number.map { Int($0) } ?? 0
    }

    /// Follows the events until the task is cancelled, or they are refused.
    func follow(_ scene: ArbiterScene, since first: Int) async {
        let ending: Result<Void, any Error>
        do {
            let events = ArbiterEvents(
                scene.arbiter, path: scene.path("/events"), since: "\(first)", isAttached: false
            ) { [weak self] isOpen in self?.note(isOpen: isOpen) }
            try await take(events, of: scene, readUpTo: first)
            ending = .success(())
        } catch is CancellationError {
            ending = .success(())
        } catch {
            ending = .failure(error)
        }
        let readers = state.withLock { state in
            defer { state.readers = [:] }
            state.ending = ending
            return state.readers.values
        }
        for reader in readers { reader.finish(ending) }
        opened.finish(ending.flatMap { .failure(CancellationError()) })
    }

    private func note(isOpen: Bool) {
        var hierarchy = current
        hierarchy.isCurrent = isOpen
        show(hierarchy)
        if isOpen { opened.finish(.success(())) }
    }

    private func take(_ events: ArbiterEvents, of scene: ArbiterScene, readUpTo first: Int) async throws {
        var last = first
        for try await event in events {
            switch event.name {
            case "reset": set(Hierarchy(scene: event.data))
            case "scene.deleted": set(.empty)
            case "hierarchy.changed":
                guard let number = event.data["number"]?.number, Int(number) > last else { continue }
                var next = current
                do {
                    try next.apply(changed: event.data)
                    set(next)
                } catch {
                    // It is not current until it has been read again.
                    note(isOpen: false)
                    last = try await readPatiently(scene)
                    note(isOpen: true)
                }
            default: break
            }
        }
    }

    /// Reads the scene, again and again while the daemon cannot be reached or refuses for now, as its events do.
    private func readPatiently(_ scene: ArbiterScene) async throws -> Int {
        var backoff = Backoff()
        while true {
            do {
                return try await read(scene)
            } catch ClientError.unreachable {
                // It may be there again later.
            } catch ClientError.refused(let refusal) where refusal.status == 429 || refusal.status == 503 {
                // It passes.
            }
            try await Task.sleep(for: backoff.next())
        }
    }

    /// Takes another hierarchy, which is as current as the one before.
    private func set(_ hierarchy: Hierarchy) {
        var hierarchy = hierarchy
        hierarchy.isCurrent = current.isCurrent
        show(hierarchy)
    }

    private func show(_ hierarchy: Hierarchy) {
        let readers = state.withLock { state in
            state.current = hierarchy
            return Array(state.readers.values)
        }
        for reader in readers { reader.yield(hierarchy) }
    }
}

extension AsyncThrowingStream.Continuation where Failure == any Error {
    fileprivate func finish(_ ending: Result<Void, any Error>) {
        if case .failure(let error) = ending { finish(throwing: error) } else { finish() }
    }
}
