/// Rows in columns.
struct TextTable {
    private var rows: [[String]]

    init(_ titles: String...) { rows = [titles] }

    mutating func add(_ cells: String...) { rows.append(cells) }

    /// The lines: titles first, each column as wide as its widest cell.
    func lines(on terminal: Terminal) -> [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.enumerated().map { index, cells in
            var line = zip(cells, widths).map { $0.padded(to: $1) }.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return index == 0 ? terminal.styled(line, .dim) : line
        }
    }
}
