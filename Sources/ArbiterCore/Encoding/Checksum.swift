/// CRC-32 as in ISO 3309 and PNG (W3C, "Portable Network Graphics", annex D).
package enum Checksum {
    /// The checksum of bytes that follow one another.
    package static func crc32(_ parts: [UInt8]...) -> UInt32 { ~parts.reduce(~0) { continued($0, with: $1) } }

    package static func crc32(_ text: String) -> UInt32 { ~continued(~0, with: text.utf8) }

    private static func continued(_ crc: UInt32, with bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.reduce(crc) { crc, byte in table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] ^ (crc >> 8) }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { crc, _ in crc & 1 == 1 ? 0xedb8_8320 ^ (crc >> 1) : crc >> 1 }
    }
}
