/// What everything in the simulated world shares.
final class World: Sendable {
    let timeline = Timeline()
    let chance: Chance
    let baton = Baton()
    let network: Network

    init(seed: UInt64) {
        chance = Chance(seed: seed)
        network = Network(timeline, chance)
    }
}
