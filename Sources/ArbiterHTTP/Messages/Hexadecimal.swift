/// A number in hexadecimal digits, without leading zeros.
func hexadecimal(_ number: UInt64) -> String {
    var rest = number
    let count = max(1, (UInt64.bitWidth - rest.leadingZeroBitCount + 3) / 4)
    return unsafe String(unsafeUninitializedCapacity: count) { digits in
        for index in (0..<count).reversed() {
            let digit = UInt8(truncatingIfNeeded: rest & 15)
            unsafe digits[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
            rest >>= 4
        }
        return count
    }
}
