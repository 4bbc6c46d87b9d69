internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterHTTP
internal import ArbiterRelay
internal import Glibc
internal import Logging

// libFuzzer's side of the fuzz target: it is called with one input after the other, and a trap is a find.

/// The first byte says what the others are given to: a route that reads a body, a decoder of what is kept, or the
/// reader of storyboards, queries or files; `FUZZ_TARGET` in the environment gives all inputs to one of them.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let choice = target ?? bytes.first else { return 0 }
    let input = target == nil ? Array(bytes.dropFirst()) : bytes
    switch choice % 12 {
    case 0: _ = try? ArbiterStateMachine(snapshot: input)
    case 1:
        var reader = BinaryReader(input)
        _ = try? reader.read(Record.self)
    case 2: ask("POST", "/transitions/end", body: input)
    case 3: ask("POST", "/transitions/await", body: input)
    case 4: ask("POST", "/transitions/serialize", body: input)
    case 5: ask("GET", "/" + String(decoding: input, as: UTF8.self), body: [])
    case 6:
        let query = [QueryItem(name: "id", value: String(decoding: input, as: UTF8.self))]
        ask("GET", "/transitions/await", query: query, body: [])
    case 7:
        guard let storyboard = try? Storyboard(json: input) else { break }
        precondition((try? Storyboard(json: storyboard.json)) == storyboard, "a storyboard came back as another")
    case 8: ask("POST", "/transitions/start", body: input)
    case 9: _ = try? AccessControl(String(decoding: input, as: UTF8.self))
    case 10: _ = try? SettingsFile.entries(String(decoding: input, as: UTF8.self))
    default:
        guard let query = RequestTarget([UInt8(ascii: "?")] + input).parameters() else { break }
        for path in ["/transitions", "/transitions/await", "/scenes", "/scenes/main/await", "/events"] {
            ask("GET", path, query: query, body: [])
        }
    }
    return 0
}

private let target: UInt8? = unsafe getenv("FUZZ_TARGET").flatMap { unsafe UInt8(String(cString: $0)) }

/// The linker asks for the module's entry; libFuzzer brings the loop behind it.
@_cdecl("fuzz_main")
public func fuzzMain(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    var count = count
    var arguments = unsafe arguments
    return unsafe runDriver(&count, &arguments, fuzz)
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ callback: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt
) -> CInt

private let router: Router? = (try? Engine(journal: MemoryJournal(keepsRecords: false))).map { engine in
    Router(
        shards: Shards(only: engine), hub: EventHub(), logger: Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() })
}

private func ask(_ method: String, _ path: String, query: [QueryItem] = [], body: [UInt8]) {
    let exchange = Heard()
    router?.handle(Request(method: method, path: path, query: query, headers: exchange, body: body), exchange)
}

/// An exchange that nobody listens to.
private final class Heard: Exchange, HeaderFields {
    func respond(_ response: Response) {}
    func stream(_ head: Response, from source: any StreamSource) { source.close() }
    func wake() {}
    func cut() {}
    func reservePlace() -> Bool { false }
    func reserve(_ room: AnswerRoom) -> Bool { true }
    func whenAbandoned(_ action: @escaping @Sendable () -> Void) {}
    func value(of name: HeaderName) -> String? {
        switch name {
        case .host: "localhost"
        case .contentType: "application/json"
        default: nil
        }
    }
}
