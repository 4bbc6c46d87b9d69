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
        abstract: "Reads a journal, also while a daemon writes it. No record is changed.",
        subcommands: [Inspect.self, Verify.self, Export.self]
    )

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
                    (
                        "torn",
                        journal.isTorn
                            ? "the end; the next start cuts it off" : "\(journal.tornBefore) batches cut off before"
                    ),
                ] + (journal.lacksLog ? [("lost", "the write-ahead log; the next start holds grants")] : [])
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
                throw JournalError(.damaged, reason: "the end of \(journal.path) is torn; the next start cuts it off")
            }
            guard !journal.lacksLog else {
                throw JournalError(
                    .damaged,
                    reason:
                        "\(journal.path) was not closed, and its write-ahead log is missing; the next start holds grants"
                )
            }
            let last = journal.records.last?.sequence ?? journal.snapshot?.sequence ?? 0
            print("\(journal.path) is sound: \(journal.records.count) records replayed, up to record \(last)")
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

/// `arbiterd journal` and its subcommands.
protocol JournalSubcommand: ParsableCommand {}
