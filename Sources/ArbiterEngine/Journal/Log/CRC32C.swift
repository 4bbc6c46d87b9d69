internal import CLinux

/// CRC-32C (RFC 3720, appendix B.4), which processors have an instruction for.
package struct CRC32C {
    private static let isInHardware = arbiter_has_crc32c() != 0

    private var state = ~UInt32(0)

    /// The checksum of what was added.
    var value: UInt32 { ~state }

    mutating func add(_ bytes: [UInt8]) { add(bytes[...]) }

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            state = unsafe Self.continued(state, with: bytes)
        }
    }

    private static func continued(_ state: UInt32, with bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
        guard isInHardware else { return unsafe arbiter_crc32c_in_software(state, bytes.baseAddress, bytes.count) }
        return unsafe arbiter_crc32c_in_hardware(state, bytes.baseAddress, bytes.count)
    }

    /// Adds bytes without the instruction; for tests.
    mutating func addInSoftware(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            state = unsafe arbiter_crc32c_in_software(state, bytes.baseAddress, bytes.count)
        }
    }

    /// The checksum of some bytes.
    package static func of(_ bytes: [UInt8]) -> UInt32 { of(bytes[...]) }

    /// The checksum of some bytes.
    static func of(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var sum = CRC32C()
        sum.add(bytes)
        return sum.value
    }
}
