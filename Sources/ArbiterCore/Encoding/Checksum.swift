/// CRC-32 as in ISO 3309 and PNG (W3C, "Portable Network Graphics", annex D).
package enum Checksum {
    package static func crc32(_ bytes: [UInt8]) -> UInt32 { checksum(of: bytes) }

    package static func crc32(_ text: String) -> UInt32 { checksum(of: text.utf8) }

    private static func checksum(of bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~0) { crc, byte in table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] ^ (crc >> 8) }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { crc, _ in crc & 1 == 1 ? 0xedb8_8320 ^ (crc >> 1) : crc >> 1 }
    }
}
