/// What an answer needs until its client has taken it.
package struct AnswerRoom: Hashable, Sendable {
    /// The bytes that it keeps, estimated; no more than `ServerLimits.bytesOfOneAnswer` count.
    package var byteCount: Int
    /// Whether it is written as its client takes it; for questions, there are only so many places for such answers.
    package var isLong: Bool
    /// Whether nothing is lost if it is refused.
    package var isQuestion: Bool
}

/// One request on its way to its one response: what the shell gives an endpoint.
package protocol Exchange: StreamOutlet {
    /// Answers. Only the first answer counts.
    func respond(_ response: Response)

    /// Answers with a head, and with a body that is pulled from the source until that says it is over.
    ///
    /// Where it is not the first answer, or only the head was asked for, the source is closed at once; so it is, in the
    /// end, in any case.
    ///
    /// - Parameters:
    ///   - head: status and header fields; its own body is not sent.
    ///   - source: where the body comes from.
    func stream(_ head: Response, from source: any StreamSource)

    /// Takes one of the places that there are for parked connections, until the exchange is over, unless it has one already.
    ///
    /// - Returns: whether it has one.
    func reservePlace() -> Bool

    /// Takes room for its answer, until the exchange is over; another time it takes what the answer needs beyond that.
    ///
    /// - Returns: whether there was enough left.
    func reserve(_ room: AnswerRoom) -> Bool

    /// Says what to do if the client closes its connection before it is answered; nothing if it is answered already.
    func whenAbandoned(_ action: @escaping @Sendable () -> Void)
}
