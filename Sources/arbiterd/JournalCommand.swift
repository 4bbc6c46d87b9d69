internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterHTTP
internal import ArgumentParser
internal import Foundation
internal import Glibc

/// `arbiterd journal`: reads a journal.
struct JournalCommand: JournalSubcommand {
    static let name = "journal"

    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Reads a journal, copies it, and makes it smaller.",
        discussion: "inspect, verify, export and backup work while a daemon writes it, and change nothing.",
        subcommands: [Inspect.self, Verify.self, Export.self, Backup.self, Restore.self, Compact.self, Copy.self]
    )

    /// The settings that a subcommand takes from the environment and from a file.
    static func settings(of subcommand: String?) -> [Setting] {
        let names = ["data"] + (subcommand == Copy.configuration.commandName ? EtcdOptions.names + ["insecure"] : [])
        return Setting.all.filter { names.contains($0.name) }
    }

    struct Inspect: JournalSubcommand {
        static let configuration = CommandConfiguration(abstract: "Shows a summary of the journal.")

        @OptionGroup var directory: JournalDirectory

        func run() throws {
            let journal = try JournalInspection(directory: try directory.path())
            let lines =
                [
                    ("path", journal.path),
                    ("size", "\(journal.size) bytes"),
                    ("form", "\(journal.form)"),
                    ("durability", journal.durability),
                    ("closed", journal.isClosed ? "yes" : "no: a daemon writes it, or was killed"),
                    ("snapshot", journal.snapshot.map { "after record \($0.sequence)" } ?? "none"),
                    ("records", "\(journal.records.count) after it"),
                    ("logs", "\(journal.logs)"),
                    (
                        "torn",
                        journal.isTorn
                            ? "the end; the next start cuts it off" : "\(journal.tornBefore) ends cut off before"
                    ),
                ] + (journal.lacksLog ? [("lost", "the newest log; the next start holds grants")] : [])
            for (name, value) in lines { print(name.padding(toLength: 12, withPad: " ", startingAt: 0) + value) }
        }
    }

    struct Verify: JournalSubcommand {
        static let configuration = CommandConfiguration(abstract: "Reads and replays all of it.")

        @OptionGroup var directory: JournalDirectory

        func run() throws {
            let journal = try JournalInspection(directory: try directory.path())
            _ = try journal.replayed()
            guard !journal.isTorn else {
                throw JournalError(
                    .damaged, reason: "the end of the journal in \(journal.path) is torn; the next start cuts it off")
            }
            guard !journal.lacksLog else {
                throw JournalError(
                    .damaged,
                    reason:
                        "the newest log of the journal in \(journal.path) is missing; the next start holds grants"
                )
            }
            print("\(journal.path) is sound: \(journal.records.count) records replayed, up to record \(journal.last)")
        }
    }

    struct Export: JournalSubcommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints the records after the snapshot as JSON lines, without tokens.")

        @OptionGroup var directory: JournalDirectory

        func run() throws {
            for record in try JournalInspection(directory: try directory.path()).records {
                guard Output.write(record.jsonLine + [UInt8(ascii: "\n")], to: STDOUT_FILENO) else { return }
            }
        }
    }
}

extension JournalCommand {
    struct Backup: JournalSubcommand {
        static let configuration = CommandConfiguration(
            abstract: "Copies the journal into a directory, also while a daemon writes it.",
            discussion: "An earlier backup of the same journal is replaced in one step, and nothing else ever is.")

        @Argument(help: "The directory of the copy.")
        var target: String

        @OptionGroup var directory: JournalDirectory

        func run() throws {
            let last = try JournalMaintenance.backUp(try directory.path(), to: target)
            print("\(target) is sound, and has everything up to record \(last)")
        }
    }

    struct Restore: JournalSubcommand {
        static let configuration = CommandConfiguration(
            abstract: "Puts a copy in the place of the journal, where there must be none, while no daemon runs.",
            discussion: """
                What was granted after the copy was made is not in it. So a daemon that starts with it grants nothing until \
                the longest lease has run out (--max-lease-seconds, --max-wait-seconds), unless it is given \
                --trust-leases-over.
                """)

        @Argument(help: "The directory of the copy.")
        var backup: String

        @OptionGroup var directory: JournalDirectory

        func run() throws {
            let path = try directory.path()
            let last = try JournalMaintenance.restore(backup, to: path)
            print("\(path) is restored, up to record \(last)")
        }
    }

    struct Compact: JournalSubcommand {
        static let configuration = CommandConfiguration(
            abstract: "Replaces the records of the journal by a snapshot, while no daemon runs.",
            discussion: "Nothing is changed if that would not make its files smaller. A daemon compacts its journal by "
                + "itself, when enough has gathered.")

        @OptionGroup var directory: JournalDirectory

        func run() throws {
            let path = try directory.path()
            let (before, after) = try JournalMaintenance.compact(path)
            print("\(path) had \(before) bytes, and has \(after) now")
        }
    }
}

/// `arbiterd journal` and its subcommands.
protocol JournalSubcommand: ParsableCommand {}
