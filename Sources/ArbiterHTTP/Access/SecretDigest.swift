internal import ArbiterEngine
internal import CGnuTLS

/// The SHA-256 of a secret, by which the access file knows it.
package struct SecretDigest: Hashable, Sendable, CustomStringConvertible {
    private static let prefix = "sha256:"

    private let bytes: [UInt8]

    /// The digest of a secret.
    package init(of secret: String) {
        let text = Array(secret.utf8)
        var digest = [UInt8](repeating: 0, count: Int(arbiter_sha256_bytes))
        let status = unsafe arbiter_sha256(text, text.count, &digest)
        precondition(status == 0, "GnuTLS has no SHA-256")
        bytes = digest
    }

    /// Reads a digest as the access file has it: `sha256:` and 64 hexadecimal digits.
    ///
    /// - Returns: `nil` if the text does not have this form.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix) else { return nil }
        let digits = text.dropFirst(Self.prefix.count).utf8.compactMap(\.hexadecimalValue)
        guard digits.count == 2 * Int(arbiter_sha256_bytes),
            text.utf8.count == Self.prefix.utf8.count + digits.count
        else { return nil }
        bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    package var description: String { Self.prefix + bytes.map(\.hexadecimal).joined() }

    /// A part of the digest, to find candidates by; how long it takes to find them tells nothing about the secret.
    var mark: [UInt8] { Array(bytes.prefix(8)) }

    /// Compared in a time that does not depend on the digests.
    package static func == (left: SecretDigest, right: SecretDigest) -> Bool {
        unsafe arbiter_are_same(left.bytes, right.bytes, left.bytes.count) != 0
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(mark) }
}

/// A secret that a client sends as its bearer token.
package enum Secret {
    private static let prefix = "arbiter_"
    private static let bytes = 32

    /// Draws a secret of 256 bits.
    package static func draw() -> String {
        var random = SystemRandom()
        return prefix + (0..<bytes).map { _ in UInt8.random(in: .min ... .max, using: &random).hexadecimal }.joined()
    }
}

extension UInt8 {
    /// Two hexadecimal digits.
    fileprivate var hexadecimal: String {
        let digits = String(self, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
    }
}
