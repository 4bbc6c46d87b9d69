internal import ArbiterClient
internal import ArgumentParser
internal import Foundation

/// Where the daemon listens, and as whom it is asked.
struct Daemon: ParsableArguments {
    @Option(help: "Where the daemon listens; ARBITER_URL unless given, or http://127.0.0.1:8080.")
    var url: String?

    @Option(
        help: ArgumentHelp(
            "A file with a bearer token, or - for standard input; ARBITER_TOKEN unless given.", valueName: "file"),
        completion: .file())
    var tokenFile: String?

    @Option(
        help: ArgumentHelp("A file of certificates that are trusted, instead of the system's.", valueName: "file"),
        completion: .file())
    var authority: String?

    @Option(help: ArgumentHelp("The name by which people know this client.", valueName: "name"))
    var client: String?

    /// Where the daemon is thought to listen.
    var address: String { url ?? Environment.variable("ARBITER_URL") ?? "http://127.0.0.1:8080" }

    /// - Throws: `Failure` if the file of the token or that of the certificates cannot be used.
    func makeArbiter(named name: String?, patience: Duration) throws(Failure) -> Arbiter {
        try checkAuthority()
        return Arbiter(
            CurlTransport(address, authority: authority), token: try token(), client: client ?? name,
            patience: patience, headers: [:])
    }

    func validate() throws {
        if address.hasPrefix("unix:") {
            guard address.hasPrefix("unix:/") else {
                throw ValidationError("behind unix: there must be the absolute path of a socket")
            }
            return
        }
        guard ["http://", "https://"].contains(where: { address.hasPrefix($0) }) else {
            throw ValidationError("the URL of the daemon must begin with http://, https:// or unix:")
        }
        guard isURL else { throw ValidationError("\(address.printable) is not the URL of a daemon") }
    }

    /// Whether requests can be sent to the address: what never can is not repeated for `--patience`.
    private var isURL: Bool {
        guard !address.unicodeScalars.contains(where: { $0.properties.isWhitespace || $0.value < 0x20 }),
            let parts = URLComponents(string: address), parts.query == nil, parts.fragment == nil
        else { return false }
        return parts.host?.isEmpty == false && 1...65_535 ~= parts.port ?? 1
    }

    private func token() throws(Failure) -> String? {
        guard let tokenFile else { return Environment.variable("ARBITER_TOKEN") }
        let token = String(decoding: try Failure.reading(tokenFile), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty else { throw Failure(file: tokenFile, "there is no token in it") }
        guard !token.contains(where: \.isNewline) else { throw Failure(file: tokenFile, "it has more than one line") }
        guard token.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else {
            throw Failure(file: tokenFile, "it has other characters than those of a token")
        }
        return token
    }

    /// A file that is missing is told of before the first request, also if that does not need it.
    private func checkAuthority() throws(Failure) {
        guard let authority else { return }
        guard unsafe access(authority, R_OK) == 0 else { throw Failure(file: authority, system: errno) }
        var isDirectory: ObjCBool = false
        _ = unsafe FileManager.default.fileExists(atPath: authority, isDirectory: &isDirectory)
        guard !isDirectory.boolValue else { throw Failure(file: authority, system: EISDIR) }
    }
}
