import ArbiterClient
import Foundation

/// A view process of the examples that are written in Swift: `example-view EXAMPLE NAME [ACT]`.
@main
struct View {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let example = arguments.first, let name = arguments.dropFirst().first else { usage() }
        // It finds the daemon by ARBITER_URL.
        let arbiter = Arbiter(client: name)
        switch example {
        case "transition-lock": try await TransitionLockView(arbiter.scene()).play(arguments.last ?? "")
        case "kiosk": try await KioskClock(arbiter.scene("kiosk")).run()
        default: usage()
        }
        // Without it, the session would end two seconds later.
        await arbiter.close()
    }

    static func usage() -> Never {
        FileHandle.standardError.write(Data("usage: example-view transition-lock|kiosk NAME [ACT]\n".utf8))
        exit(64)
    }
}

/// Writes a line at once, so that the lines of several processes stand in their order.
func say(_ name: String?, _ text: String) {
    let environment = ProcessInfo.processInfo.environment
    let name = (name ?? "").padding(toLength: 10, withPad: " ", startingAt: 0)
    let line = "\(environment["VIEW_COLOUR"] ?? "")\(name)\(text)\(environment["VIEW_PLAIN"] ?? "")\n"
    FileHandle.standardOutput.write(Data(line.utf8))
}
