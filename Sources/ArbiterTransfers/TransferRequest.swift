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
            /// Before the answer and between two pieces of it, however long that lasts; its head may say another time.
            case silence(Duration, saidBy: @Sendable (TransferHead) -> Duration? = { _ in nil })
        }

        /// By what the two sides know each other over TLS: the paths of files in PEM.
        ///
        /// A connection is used again only by requests with the same paths.
        package struct Trust: Sendable {
            /// Certificates that are trusted, instead of the system's.
            package var authority: String?
            package var identity: Identity?
            /// Files that are there for as long as this or a copy of it.
            private var files: [MemoryFile] = []

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

            /// Keeps what was read, so that what becomes of its files changes nothing; `nil` if the system has no room for it.
            ///
            /// - Parameters:
            ///   - authorities: certificates that are trusted, in PEM, instead of the system's.
            ///   - certificates: what the server is shown, in PEM, with its key.
            package init?(authorities: String?, certificates: (text: String, key: String)?) {
                func path(_ text: String) -> String? {
                    guard let file = MemoryFile(text) else { return nil }
                    files.append(file)
                    return file.path
                }
                if let authorities {
                    guard let path = path(authorities) else { return nil }
                    authority = path
                }
                if let certificates {
                    guard let certificate = path(certificates.text), let key = path(certificates.key) else {
                        return nil
                    }
                    identity = Identity(certificate: certificate, key: key)
                }
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

        /// The value of a field, however its name is written.
        package func value(of name: String) -> String? {
            let name = name.lowercased()
            return fields.first { $0.name.lowercased() == name }?.value
        }
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
