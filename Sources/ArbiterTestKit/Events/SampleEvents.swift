package import ArbiterCore

extension SceneEvent {
    /// A sample event, identified by its revision, which is its number, or 0 if it is momentary.
    ///
    /// - Parameters:
    ///   - number: its number; `nil` if it is momentary.
    ///   - scene: its scene.
    ///   - controllers: how many controllers it names; each makes it about 10 bytes longer.
    /// - Returns: the event.
    package static func sample(_ number: UInt64?, in scene: SceneName = .main, controllers: Int = 1) -> SceneEvent {
        SceneEvent(
            scene: scene, number: number.map(EventNumber.init(rawValue:)),
            overall: number.map(EventNumber.init(rawValue:)),
            timestamp: Timestamp(milliseconds: 1_767_225_600_000 + Int64(number ?? 0)),
            kind: .hierarchyChanged(
                HierarchyUpdate(
                    revision: Revision(rawValue: number ?? 0),
                    inserted: (0..<controllers).compactMap { ControllerID("view-\($0)") }, change: .edited([]))))
    }

    /// Sample events with these numbers.
    package static func samples(_ numbers: ClosedRange<UInt64>, in scene: SceneName = .main) -> [SceneEvent] {
        numbers.map { sample($0, in: scene) }
    }
}
