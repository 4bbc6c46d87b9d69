internal import ArbiterClient
internal import ArgumentParser
internal import Foundation

/// How the daemon is reached.
struct Connection: ParsableArguments {
    @Option(help: "Where the daemon listens; ARBITER_URL unless given, or http://127.0.0.1:8080.")
    var url: String?

    @Option(
        help: ArgumentHelp(
            "A file with a bearer token, or - for standard input; ARBITER_TOKEN unless given.", valueName: "file"))
    var tokenFile: String?

    @Option(help: ArgumentHelp("A file of certificates that are trusted, instead of the system's.", valueName: "file"))
    var authority: String?

    @Option(help: ArgumentHelp("The name by which people know this client.", valueName: "name"))
    var client: String?

    @Option(
        help: ArgumentHelp(
            "How many seconds a request is repeated while the daemon cannot be reached.", valueName: "seconds"))
    var patience = 30.0

    /// Where the daemon is thought to listen.
    var address: String { url ?? ProcessInfo.processInfo.environment["ARBITER_URL"] ?? "http://127.0.0.1:8080" }

    /// - Throws: `Failure` if the file of the token cannot be read.
    func makeArbiter(named name: String? = nil) throws -> Arbiter {
        Arbiter(
            CurlTransport(address, authority: authority), token: try token(), client: client ?? name,
            patience: .seconds(patience), headers: [:])
    }

    func validate() throws {
        guard ["http://", "https://", "unix:"].contains(where: { address.hasPrefix($0) }) else {
            throw ValidationError("the URL of the daemon must begin with http://, https:// or unix:")
        }
        guard patience >= 0, patience <= 86_400 else { throw ValidationError("--patience must be 0 to 86400 seconds") }
    }

    private func token() throws(Failure) -> String? {
        guard let tokenFile else { return ProcessInfo.processInfo.environment["ARBITER_TOKEN"] }
        let token = String(decoding: try Failure.reading(tokenFile), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty else { throw Failure(file: tokenFile, "there is no token in it") }
        return token
    }
}
