/// The sorted names of the scenes, so that a page of them costs no more than its own length.
struct SceneNames: Sendable {
    private(set) var sorted: [SceneName] = []

    init() {}

    init(_ names: some Sequence<SceneName>) {
        sorted = names.sorted { $0.description < $1.description }
    }

    /// Inserts a name that is not in the list.
    mutating func insert(_ name: SceneName) {
        sorted.insert(name, at: count(through: name))
    }

    mutating func remove(_ name: SceneName) {
        let index = count(through: name) - 1
        guard index >= 0, sorted[index] == name else { return }
        sorted.remove(at: index)
    }

    /// The names after a name, which need not be in the list itself; all names if it is `nil`.
    func behind(_ name: SceneName?) -> ArraySlice<SceneName> {
        sorted[(name.map { count(through: $0) } ?? 0)...]
    }

    /// The number of names up to and including `name`, by bisection.
    private func count(through name: SceneName) -> Int {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle].description <= name.description { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
