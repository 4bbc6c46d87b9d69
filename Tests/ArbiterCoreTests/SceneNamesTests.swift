import ArbiterTestKit
import Testing

@testable import ArbiterCore

/// Names in their order, however they come and go.
struct SceneNamesTests {
    @Test(arguments: Seeds.first(5, atNight: 50))
    func `names that come and go are in order, and are found behind any other`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var names = SceneNames()
        var expected: Set<String> = []
        for _ in 0..<500 {
            let text = "s\(Int.random(in: 0..<80, using: &random))"
            let name = try #require(SceneName(text))
            if expected.remove(text) == nil {
                names.insert(name)
                expected.insert(text)
            } else {
                names.remove(name)
            }
            let sorted = expected.sorted()
            try #require(names.sorted.map(\.description) == sorted)
            let other = try #require(SceneName("s\(Int.random(in: 0..<80, using: &random))"))
            try #require(names.behind(other).map(\.description) == sorted.filter { $0 > other.description })
        }
        names.remove(try #require(SceneName("never-there")))
        #expect(names.behind(nil).count == expected.count)
        #expect(SceneNames(names.sorted.shuffled(using: &random)).sorted == names.sorted)
    }
}
