internal import ArbiterTestKit
internal import Foundation
internal import Glibc

/// A process standing in for a view: it does what it is told on its standard input, and tells on its standard output.
///
/// Arguments: the daemon's port, and the name to go by. Commands, one a line:
/// - `request METHOD PATH [BODY]`, answered with `STATUS BODY`, once for each session it is made in, or for none;
/// - `attend SCENE COUNT`: opens sessions, each kept alive by a stream of the scene's events, and has every later
///   request made once in each of them; answered with `STATUS BODY` for each;
/// - `events NAME`, answered with a line `NAME DATA` for each event of its first stream, up to the next of that name;
/// - `drag COUNT BODY`: moves a finger in so many steps, at 60 a second, to where the body of a progress request says;
///   answered with `STATUS BODY` of the last;
/// - `perform COUNT BODIES`: serializes and ends the transitions of a list, so many times over; answered with a line
///   for each that did not complete, and `done`;
/// - `contend SCENE COUNT FILE`, answered with a line for each violation of the lock's promises, and `done`.
@main
struct StandInView {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let port = UInt16(arguments[1]) else {
            FileHandle.standardError.write(Data("usage: standin-view PORT NAME\n".utf8))
            exit(EX_USAGE)
        }
        do {
            var view = try View(port: port, name: arguments[2], tell: tell)
            while let line = readLine() { try obey(line, &view) }
        } catch {
            tell("failed \(error)")
            exit(EX_IOERR)
        }
    }

    private static func obey(_ line: String, _ view: inout View) throws {
        let command = line.prefix { $0 != " " }
        // The last argument may have spaces in it.
        func arguments(_ count: Int) throws -> [String] {
            let words = line.split(separator: " ", maxSplits: count).dropFirst().map(String.init)
            guard words.count == count else { throw Misunderstood(line: line) }
            return words
        }
        func number(_ word: String) throws -> Int {
            guard let number = Int(word) else { throw Misunderstood(line: line) }
            return number
        }
        switch command {
        case "request":
            let words = line.split(separator: " ", maxSplits: 3).map(String.init)
            guard words.count >= 3 else { throw Misunderstood(line: line) }
            try view.request(words[1], words[2], words.count > 3 ? words[3] : nil)
        case "attend":
            let words = try arguments(2)
            try view.attend(words[0], count: try number(words[1]))
        case "events":
            try view.tellEvents(upTo: try arguments(1)[0])
        case "drag":
            let words = try arguments(2)
            try view.drag(to: words[1], steps: try number(words[0]))
        case "perform":
            let words = try arguments(2)
            try view.perform(words[1], count: try number(words[0]))
        case "contend":
            let words = try arguments(3)
            try view.contend(for: words[0], count: try number(words[1]), file: words[2])
        default:
            throw Misunderstood(line: line)
        }
    }

    private static func tell(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}

/// What was told is none of the commands.
struct Misunderstood: Error {
    let line: String
}
