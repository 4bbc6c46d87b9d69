internal import ArbiterEngine

/// Writes metrics as Prometheus reads them
/// (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format).
struct Exposition {
    private(set) var text = ""

    enum Kind: String {
        case counter
        case gauge
        case histogram
    }

    typealias Labels = KeyValuePairs<String, String>

    /// Begins a metric; its samples follow.
    mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    mutating func sample(_ name: String, _ labels: Labels = [:], _ value: Double) {
        text += name
        write(labels)
        text += " \(Self.number(value))\n"
    }

    /// Writes a metric that has one sample.
    mutating func single(_ name: String, _ kind: Kind, _ help: String, _ value: Int) {
        begin(name, kind, help)
        sample(name, [:], Double(value))
    }

    /// Writes the samples of a histogram.
    mutating func samples(_ name: String, _ labels: [(String, String)] = [], of histogram: Histogram) {
        var count = 0
        for (index, inBucket) in histogram.counts.enumerated() {
            count += inBucket
            let bound =
                index < histogram.bounds.count
                ? Self.number(Double(histogram.bounds[index]) / histogram.scale) : "+Inf"
            text += "\(name)_bucket\(Self.list(labels + [("le", bound)])) \(count)\n"
        }
        text += "\(name)_sum\(Self.list(labels)) \(Self.number(histogram.sum))\n"
        text += "\(name)_count\(Self.list(labels)) \(count)\n"
    }

    /// Writes a metric that is one histogram.
    mutating func single(_ name: String, _ help: String, _ histogram: Histogram) {
        begin(name, .histogram, help)
        samples(name, of: histogram)
    }

    private mutating func write(_ labels: Labels) {
        text += Self.list(labels.map { ($0.key, $0.value) })
    }

    /// All values are words of ours, so that nothing has to be escaped.
    private static func list(_ labels: [(String, String)]) -> String {
        labels.isEmpty ? "" : "{" + labels.map { "\($0.0)=\"\($0.1)\"" }.joined(separator: ",") + "}"
    }

    /// A number without a fraction if it has none.
    private static func number(_ value: Double) -> String {
        Int(exactly: value).map(String.init) ?? "\(value)"
    }
}
