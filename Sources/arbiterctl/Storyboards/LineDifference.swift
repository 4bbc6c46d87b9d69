/// The lines that two texts do not share, with what is around them.
struct LineDifference {
    /// How many lines are shown before and after what differs.
    private static let context = 3

    /// Each with `-`, `+` or a space before it; `…` where lines are left out.
    let lines: [String]

    init(from old: [String], to new: [String]) {
        var (removed, inserted): (Set<Int>, Set<Int>) = ([], [])
        for change in new.difference(from: old) {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var all: [String] = []
        var (left, right) = (0, 0)
        while left < old.count || right < new.count {
            if removed.contains(left) {
                all.append("-" + old[left])
                left += 1
            } else if inserted.contains(right) {
                all.append("+" + new[right])
                right += 1
            } else {
                all.append(" " + old[left])
                (left, right) = (left + 1, right + 1)
            }
        }
        lines = Self.shortened(all)
    }

    private static func shortened(_ all: [String]) -> [String] {
        var shown: Set<Int> = []
        for (index, line) in all.enumerated() where !line.hasPrefix(" ") {
            shown.formUnion(max(0, index - context)...min(all.count - 1, index + context))
        }
        var lines: [String] = []
        for index in all.indices {
            if shown.contains(index) {
                lines.append(all[index])
            } else if lines.last != "…" {
                lines.append("…")
            }
        }
        return lines
    }
}
