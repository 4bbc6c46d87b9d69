import Testing

@testable import ArbiterCore

/// Requests that only lock their scene, for which planning, checks and animations are skipped.
struct PlainRequestTests {
    @Test func `a request that only locks the scene is plain, whatever else it says about its times and clients`() {
        let requests = [
            TransitionRequest(), TransitionRequest(scope: .scene),
            TransitionRequest(
                client: ClientName("menu"), lease: .seconds(5), maxHold: .seconds(9), onExpiry: .complete,
                queue: .seconds(7), participants: [Participant(client: ClientName(unchecked: "other"))]),
        ]
        #expect(requests.map(\.isPlain) == [true, true, true])
    }

    @Test func `what is planned, checked or animated makes a request more than plain`() {
        let requests = [
            TransitionRequest(operation: .dismiss(ControllerID(unchecked: "a"))),
            TransitionRequest(expectations: [.revision(Revision(rawValue: 0))]),
            TransitionRequest(animation: AnimationRequest()), TransitionRequest(isInteractive: true),
            TransitionRequest(scope: .operation), TransitionRequest(scope: .controllers([])),
        ]
        #expect(requests.filter { $0.isPlain } == [])
    }
}
