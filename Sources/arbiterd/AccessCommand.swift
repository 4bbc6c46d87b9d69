internal import ArbiterHTTP
internal import ArgumentParser
internal import Foundation
internal import Glibc

/// `arbiterd access`: the file that says which clients may do what.
struct AccessCommand: AccessSubcommand {
    static let name = "access"

    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Makes entries of the access file, and shows them.",
        discussion: """
            The access file (--access) is YAML: a list of principals. Each has a name, its roles, the names or patterns of \
            the scenes it may use, and what it is known by: token (the SHA-256 of its secret), user or group (of a process \
            on a Unix socket) or certificate (the common name of a client certificate).

                principals:
                  - name: kiosk
                    token: sha256:…
                    roles: [observe, transition]
                    scenes: [main, kiosk-*]

            The roles are observe (see scenes, transitions and events), transition (request transitions and act on one's \
            own), design (declare and delete scenes) and admin (revoke transitions). No role includes another.
            """,
        subcommands: [New.self, List.self]
    )

    struct New: AccessSubcommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Adds an entry to the access file; draws a secret, and shows it once, unless a user, a group or a "
                + "certificate is named.")

        @Argument(help: "The name of the principal.")
        var name: String

        @Option(help: "What it may do: observe, transition, design or admin; can be repeated.")
        var role: [Role]

        @Option(help: "The name or pattern of scenes that it may use, such as main or 'kiosk-*'; can be repeated.")
        var scene: [String]

        @Option(help: "The user whose processes are meant, by name or number, instead of a token.")
        var user: String?

        @Option(help: "The group whose users' processes are meant, by name or number, instead of a token.")
        var group: String?

        @Option(help: "The common name of a client certificate, instead of a token.")
        var certificate: String?

        @Option(
            parsing: .unconditional,
            help: "The highest priority that its transitions may have, from -1000 to 1000; 0 unless given.")
        var maxPriority: Int?

        @OptionGroup var file: AccessFileOption

        func validate() throws {
            guard !role.isEmpty else { throw ValidationError("give at least one --role") }
            guard !scene.isEmpty else {
                throw ValidationError("give at least one --scene; --scene '*' means all of them")
            }
            guard [user, group, certificate].count(where: { $0 != nil }) <= 1 else {
                throw ValidationError("give only one of --user, --group and --certificate")
            }
        }

        func run() throws {
            let secret = user ?? group ?? certificate == nil ? Secret.draw() : nil
            let proof: (String, String) =
                if let user { ("user", user) } else if let group { ("group", group) } else if let certificate {
                    ("certificate", certificate)
                } else { ("token", SecretDigest(of: secret ?? "").description) }
            try file.append(
                AccessFileText.entry(
                    name: name, proof: proof, roles: role.map(\.rawValue), scenes: scene,
                    highestPriority: maxPriority))
            if let secret { print(secret) }
        }
    }

    struct List: AccessSubcommand {
        static let configuration = CommandConfiguration(abstract: "Lists the entries of the access file.")

        @OptionGroup var file: AccessFileOption

        func run() throws {
            let text = try file.text()
            do throws(SettingsFile.Malformed) {
                for line in try AccessFileText.lines(of: text) { print(line) }
            } catch {
                throw Failure(EX_DATAERR, error.description(in: file.access ?? ""))
            }
        }
    }
}

/// `arbiterd access` and its subcommands.
protocol AccessSubcommand: ParsableCommand {}

/// The option that names the access file, of the daemon and of `arbiterd access`.
struct AccessFileOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The file that says which clients may do what, in YAML; see arbiterd access. Read again on SIGHUP.",
            valueName: "file"))
    var access: String?

    private func path() throws -> String {
        guard let access else { throw Failure(EX_USAGE, "say with --access which file is meant") }
        return access
    }

    /// The text of the file.
    func text() throws -> String {
        let path = try path()
        do throws(SettingsFile.Malformed) {
            return try SettingsFile.read(path, upTo: AccessFile.fileBytes)
        } catch {
            throw Failure(EX_NOINPUT, error.description(in: path))
        }
    }

    /// Appends an entry, and replaces the file as a whole; a file that does not exist is made.
    func append(_ entry: String) throws {
        let path = try path()
        do throws(SettingsFile.Malformed) {
            try SettingsFile.change(path, upTo: AccessFile.fileBytes) { text throws(SettingsFile.Malformed) in
                try AccessFileText.appending(entry, to: text)
            }
        } catch {
            throw Failure(EX_DATAERR, error.description(in: path))
        }
    }
}

extension Role: ExpressibleByArgument {}
