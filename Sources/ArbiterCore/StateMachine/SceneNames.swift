/// The names of scenes in their order, so that a page of them costs no more than its own length.
struct SceneNames: Sendable {
    private(set) var sorted: [SceneName] = []

    init() {}

    init(_ names: some Sequence<SceneName>) {
        sorted = names.sorted { $0.description < $1.description }
    }

    /// Takes a name in that is not there yet.
    mutating func insert(_ name: SceneName) {
        sorted.insert(name, at: count(through: name))
    }

    mutating func remove(_ name: SceneName) {
        let index = count(through: name) - 1
        guard index >= 0, sorted[index] == name else { return }
        sorted.remove(at: index)
    }

    /// Those behind a name, which need not be there; all of them without one.
    func behind(_ name: SceneName?) -> ArraySlice<SceneName> {
        sorted[(name.map { count(through: $0) } ?? 0)...]
    }

    /// How many are not behind a name, found by bisection.
    private func count(through name: SceneName) -> Int {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle].description <= name.description { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
