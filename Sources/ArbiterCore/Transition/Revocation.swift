/// How an administrator took a transition from its owner.
package struct Revocation: Hashable, Sendable {
    package let reason: GivenReason
    /// The administrator; `nil` if nothing is known about the client.
    package let principal: PrincipalName?

    package init(_ reason: GivenReason, by principal: PrincipalName? = nil) {
        self.reason = reason
        self.principal = principal
    }
}

extension Revocation: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(reason)
        writer.write(principal)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        reason = try reader.read()
        principal = try reader.readOptional()
    }
}
