internal import ArbiterEngine
internal import ArbiterHTTP
internal import ArgumentParser

/// A number of bytes as people write it: an integer and `MB` or `GB`, in powers of 1024.
struct MemorySize: ExpressibleByArgument, CustomStringConvertible {
    static let allowed = 64 << 20...1024 << 30

    let bytes: Int

    init(bytes: Int) {
        self.bytes = bytes
    }

    init?(argument: String) {
        let text = argument.uppercased()
        let units = ["MB": 20, "MIB": 20, "M": 20, "GB": 30, "GIB": 30, "G": 30]
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let shift = units[String(text.dropFirst(digits.count))], let count = Int(digits), count < 1 << 20 else {
            return nil
        }
        bytes = count << shift
    }

    var description: String { "\(bytes >> 20)MB" }
}

/// The permission bits of a file, in octal.
struct FileMode: ExpressibleByArgument, CustomStringConvertible {
    let bits: UInt32

    init(bits: UInt32) {
        self.bits = bits
    }

    init?(argument: String) {
        guard 3...4 ~= argument.utf8.count, let bits = UInt32(argument, radix: 8), bits <= 0o777 else { return nil }
        self.bits = bits
    }

    var description: String {
        let digits = String(bits, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

extension LogJournal.Durability: ExpressibleByArgument {}
