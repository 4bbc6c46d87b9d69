/// One request on its way to its one response: what the shell gives an endpoint.
package protocol Exchange: AnyObject, Sendable {
    /// Answers. Only the first answer counts.
    func respond(_ response: Response)

    /// Takes one of the places that there are for parked connections, until the exchange is over.
    ///
    /// - Returns: whether there was one left.
    func reservePlace() -> Bool

    /// Says what to do if the client closes its connection before it is answered.
    func whenAbandoned(_ action: @escaping @Sendable () -> Void)
}
