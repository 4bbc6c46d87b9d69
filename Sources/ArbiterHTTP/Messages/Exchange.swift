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

    /// Takes one of the places that there are for long answers on their way, until the exchange is over.
    ///
    /// - Returns: whether there was one left.
    func reserveLongAnswer() -> Bool

    /// Says what to do if the client closes its connection before it is answered; nothing if it is answered already.
    func whenAbandoned(_ action: @escaping @Sendable () -> Void)
}
