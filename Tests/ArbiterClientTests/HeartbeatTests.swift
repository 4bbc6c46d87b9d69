import ArbiterTransfers
import Testing

@testable import ArbiterClient

/// After how long a silence a stream of events is taken for dead.
struct HeartbeatTests {
    @Test(arguments: [
        ("15", Duration.seconds(31)), ("1.25", .milliseconds(3500)), ("5", .seconds(11)), ("0.5", .seconds(3)),
        (".001", .seconds(3)),
    ]) func `two comments may be missing`(text: String, silence: Duration) {
        #expect(Heartbeat.silence(saidBy: text) == silence)
    }

    @Test(arguments: [nil, "", "0", "-1", "nan", "inf", "1e9", "5 s", "often"])
    func `what is no interval says nothing`(text: String?) {
        #expect(Heartbeat.silence(saidBy: text) == nil)
        #expect(StreamSilence().take(text) == .seconds(45))
    }

    @Test(arguments: [Duration.seconds(15), .milliseconds(1250), .milliseconds(750), .seconds(5)])
    func `a daemon says its interval as clients read it`(interval: Duration) {
        let expected = max(.seconds(3), interval * 2 + .seconds(1))
        #expect(Heartbeat.silence(saidBy: Heartbeat.text(interval)) == expected)
    }

    @Test func `the head of a stream may take as long as the last one said, and five seconds at least`() {
        let silence = StreamSilence()
        let stream = WireRequest(
            "GET", "/events", headers: ["Accept": "text/event-stream"], timeout: WireTimes.silence)
        let recording = WireRequest("GET", "/trace", timeout: WireTimes.silence)
        #expect(silence.limit(of: stream) == .seconds(45))
        #expect(silence.take("0.5") == .seconds(3))
        #expect(silence.limit(of: stream) == .seconds(5))
        #expect(silence.take("15") == .seconds(31))
        #expect(silence.limit(of: stream) == .seconds(31))
        #expect(silence.limit(of: recording) == .seconds(45))
        // A daemon that does not say it.
        #expect(silence.take(nil) == .seconds(45))
        #expect(silence.limit(of: stream) == .seconds(45))
    }
}
