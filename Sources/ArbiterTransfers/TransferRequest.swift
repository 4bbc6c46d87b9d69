#if os(Linux)
    /// A request to a server.
    package struct TransferRequest: Sendable {
        /// `http://…` or `https://…`, with the path and the query.
        package var url: String
        package var method = "GET"
        /// The lines of the header.
        package var fields: [String] = []
        package var body: [UInt8]?
        /// Whether libcurl may send it a second time if a kept connection was closed before an answer came.
        package var mayBeSentTwice = true
        /// The path of a Unix socket to connect to, instead of the host of the URL.
        package var socket: String?
        package var trust = Trust()
        /// How long connecting may take.
        package var connecting = Duration.seconds(5)
        package var limit: Limit

        /// How long the transfer may take.
        package enum Limit: Sendable {
            /// From the beginning to the end.
            case whole(Duration)
            /// From the beginning to the first piece of the answer, and between two of its pieces, however long that lasts.
            case silence(Duration)
        }

        /// By what the two sides know each other over TLS: the paths of files in PEM.
        package struct Trust: Hashable, Sendable {
            /// Certificates that are trusted, instead of the system's.
            package var authority: String?
            package var identity: Identity?

            /// What the server is shown.
            package struct Identity: Hashable, Sendable {
                package let certificate: String
                package let key: String

                package init(certificate: String, key: String) {
                    (self.certificate, self.key) = (certificate, key)
                }
            }

            package init(authority: String? = nil, identity: Identity? = nil) {
                (self.authority, self.identity) = (authority, identity)
            }
        }

        package init(_ url: String, limit: Limit) {
            (self.url, self.limit) = (url, limit)
        }
    }

    /// The beginning of an answer.
    package struct TransferHead: Sendable {
        package let status: Int
        /// The fields of the header, in their order.
        package let fields: [(name: String, value: String)]

        /// The value of a field; its name in lower case.
        package func value(of name: String) -> String? { fields.first { $0.name.lowercased() == name }?.value }
    }

    /// An answer that has ended.
    package struct TransferAnswer: Sendable {
        package let head: TransferHead
        package let body: [UInt8]
    }

    /// Why there is no answer, or no end of it.
    package struct TransferFailure: Error, Hashable, Sendable {
        /// What libcurl says.
        package let reason: String
        /// Whether any part of the request was sent; if not, nothing can have come of it.
        package let wasSent: Bool

        package init(reason: String, wasSent: Bool) {
            (self.reason, self.wasSent) = (reason, wasSent)
        }

        /// What libcurl says of a transfer over a Unix socket, whose host and port it names although they mean nothing.
        static func naming(_ path: String, in reason: String) -> String {
            var words = reason
            if let place = words.firstRange(of: "localhost port 80") { words.replaceSubrange(place, with: path) }
            return words.contains(path) ? words : "\(path): \(words)"
        }
    }
#endif
