internal import ArbiterTestKit
internal import Foundation
internal import Glibc

/// A process that stands in for a view: it reads commands from standard input, and writes answers to standard output.
///
/// Arguments: the daemon's port, and the client's name. Commands, one on each line:
/// - `request METHOD PATH [BODY]`: answered with `STATUS BODY`, once for each attended session, or once if there is
///   none;
/// - `attend SCENE COUNT`: opens sessions, each kept alive by a stream of the scene's events; every later request is
///   made once in each session; answered with `STATUS BODY` for each;
/// - `events NAME`: answered with a line `NAME DATA` for each event of the first stream, up to the next one of that
///   name;
/// - `drag COUNT BODY`: moves a finger in that many steps, 60 a second, to the fraction in the body of a progress
///   request; answered with `STATUS BODY` of the last step;
/// - `perform COUNT BODIES`: requests and ends the transitions of a list, one after the other, that many times;
///   answered with a line for each one that did not complete, and `done`;
/// - `contend SCENE COUNT FILE`: answered with a line for each violation of the lock's promises, and `done`.
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
        // The last argument may contain spaces.
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

/// A line that is not one of the commands.
struct Misunderstood: Error {
    let line: String
}
