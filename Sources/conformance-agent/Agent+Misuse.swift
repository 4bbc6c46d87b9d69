import ArbiterClient
import Foundation

// Wrong uses of the client.

extension Agent {
    /// The names of those wrong uses that are not refused at once, or whose refusal shows the secret.
    func misuses() async -> [String] {
        let (url, secret) = (self.url, "a secret")
        func arbiter(_ url: URL, token: String? = nil, headers: [String: String] = [:]) -> Arbiter {
            Arbiter(url: url, token: token, patience: .seconds(300), headers: headers)
        }
        let uses: [(String, () async throws -> Void)] = [
            ("token", { _ = try await arbiter(url, token: "\(secret)\nX-A: b").scene("misused").start() }),
            ("header", { _ = try await arbiter(url, headers: ["X-A": "\(secret)\r\n"]).scene("misused").start() }),
            ("name of a header", { _ = try await arbiter(url, headers: ["X Y": secret]).scene("misused").start() }),
            (
                "scheme",
                { _ = try await arbiter(URL(string: "ftp://127.0.0.1") ?? url).scene("misused").start() }
            ),
            (
                "id",
                {
                    for try await _ in arbiter(url).scene("misused").events(since: "1\n2") {}
                }
            ),
            (
                "body",
                {
                    var options = TransitionOptions()
                    options.further["leaseSeconds"] = .number(.infinity)
                    _ = try await arbiter(url).scene("misused").start(options)
                }
            ),
            (
                "lease",
                {
                    var options = TransitionOptions()
                    options.lease = .seconds(-1)
                    _ = try await arbiter(url).scene("misused").serialize(options)
                }
            ),
            ("timeout", { _ = try await arbiter(url).scene("misused").serialize(timeout: .seconds(-1)) }),
            ("patience", { _ = try await Arbiter(url: url, patience: .seconds(-1)).scene("misused").start() }),
        ]
        var accepted: [String] = []
        for (name, use) in uses {
            do {
                try await use()
                accepted.append(name)
            } catch {
                if "\(error)".contains(secret) { accepted.append(name) }
            }
        }
        return accepted
    }
}
