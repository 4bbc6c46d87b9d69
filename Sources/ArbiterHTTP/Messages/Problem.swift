internal import ArbiterCore
internal import ArbiterRelay

/// Why a request is not done, as RFC 9457 tells it.
package struct Problem: Error, Sendable {
    let code: Code
    /// The status of the answer: that of the code, unless the code is about the path.
    var status: Int
    /// One sentence that a person can act on.
    let detail: String
    /// The field, parameter or header at fault.
    var field: String?
    /// Who is in the way.
    var busy: Busy?
    /// What was wanted.
    var expected: String?
    /// What was found instead.
    var actual: String?
    /// Which operation of a list is refused, counted from 0.
    var index: Int?
    /// The transition that it is about, as it ended or will end.
    var transition: TransitionView?
    /// Whether the operation of a transition that ended without its owner was applied.
    var isApplied: Bool?
    /// Seconds after which to try again.
    var retryAfter: Int?
    /// The methods that the path does have.
    var allowedMethods: [String] = []
    /// How to authenticate, if the request is not authenticated; without it, a session is needed.
    var challenge: String?
    /// Where the request belongs instead, if nothing of it was carried out.
    var misplaced: Misplaced?
    /// Whether nothing that follows on the connection can be trusted.
    var closesConnection: Bool

    init(
        _ code: Code, _ detail: String, field: String? = nil, retryAfter: Int? = nil, closesConnection: Bool = false
    ) {
        self.code = code
        status = code.status
        self.detail = detail
        self.field = field
        self.retryAfter = retryAfter
        self.closesConnection = closesConnection
    }

    /// The one table from error to status.
    package enum Code: String, Hashable, Sendable, CaseIterable {
        case malformedJSON = "malformed-json"
        case unknownField = "unknown-field"
        case invalidField = "invalid-field"
        case missingField = "missing-field"
        case connectionClosed = "connection-closed"
        case unauthenticated
        case forbidden
        case foreignOrigin = "foreign-origin"
        case wrongToken = "wrong-token"
        case notFound = "not-found"
        case unknownScene = "unknown-scene"
        case unknownTransition = "unknown-transition"
        case methodNotAllowed = "method-not-allowed"
        case notAcceptable = "not-acceptable"
        case busy
        case inUse = "in-use"
        case alreadyEnded = "already-ended"
        case alreadyDecided = "already-decided"
        case alreadyPerformed = "already-performed"
        case interrupted
        case notInteractive = "not-interactive"
        case notRunning = "not-running"
        case tooLate = "too-late"
        case guarded
        case expired
        case rejected
        case superseded
        case revoked
        case bodyTooLarge = "body-too-large"
        case unsupportedMediaType = "unsupported-media-type"
        case headersTooLarge = "header-fields-too-large"
        case misdirectedRequest = "misdirected-request"
        case expectationFailed = "expectation-failed"
        case revisionMismatch = "revision-mismatch"
        case alreadyDeclared = "already-declared"
        case idempotencyKeyReused = "idempotency-key-reused"
        case unknownTransitionType = "unknown-transition-type"
        case unknownController = "unknown-controller"
        case wrongKind = "wrong-kind"
        case alreadyPresenting = "already-presenting"
        case notVisible = "not-visible"
        case alreadyInHierarchy = "already-in-hierarchy"
        case alreadyOnStack = "already-on-stack"
        case cannotPushContainer = "cannot-push-container"
        case notOnStack = "not-on-stack"
        case indexOutOfRange = "index-out-of-range"
        case notAChild = "not-a-child"
        case alreadyAChild = "already-a-child"
        case unknownColumn = "unknown-column"
        case columnCollapsed = "column-collapsed"
        case unknownSegue = "unknown-segue"
        case hierarchyTooLarge = "hierarchy-too-large"
        case outsideScope = "outside-scope"
        case queueFull = "queue-full"
        case tooManyTransitions = "too-many-transitions"
        case tooManyScenes = "too-many-scenes"
        case tooManySessions = "too-many-sessions"
        case shareUsedUp = "share-used-up"
        case tooManyRequests = "too-many-requests"
        case tooManyConnections = "too-many-connections"
        case draining
        case recovering
        case journalUnavailable = "journal-unavailable"
        case outOfRoom = "out-of-room"
        case notOwner = "not-owner"
        case olderRules = "older-rules"
        case unsupportedVersion = "unsupported-version"

        /// Every status that an answer with the code may have; its own first.
        package var statuses: [Int] { self == .unknownController ? [status, 404] : [status] }

        package var status: Int {
            switch self {
            case .malformedJSON, .unknownField, .invalidField, .missingField, .connectionClosed: 400
            case .unauthenticated: 401
            case .forbidden, .foreignOrigin, .wrongToken: 403
            case .notFound, .unknownScene, .unknownTransition: 404
            case .methodNotAllowed: 405
            case .notAcceptable: 406
            case .busy, .inUse, .alreadyEnded, .alreadyDecided, .alreadyPerformed, .interrupted, .notInteractive,
                .notRunning, .tooLate, .guarded:
                409
            case .expired, .rejected, .superseded, .revoked: 410
            case .bodyTooLarge: 413
            case .unsupportedMediaType: 415
            case .misdirectedRequest: 421
            case .expectationFailed, .revisionMismatch, .alreadyDeclared: 412
            case .idempotencyKeyReused, .unknownTransitionType, .unknownController, .wrongKind, .alreadyPresenting,
                .notVisible, .alreadyInHierarchy, .alreadyOnStack, .cannotPushContainer, .notOnStack, .indexOutOfRange,
                .notAChild, .alreadyAChild, .unknownColumn, .columnCollapsed, .unknownSegue, .hierarchyTooLarge,
                .outsideScope:
                422
            case .queueFull, .tooManyTransitions, .tooManyScenes, .tooManySessions, .shareUsedUp, .tooManyRequests: 429
            case .headersTooLarge: 431
            case .tooManyConnections, .draining, .recovering, .journalUnavailable, .outOfRoom, .notOwner, .olderRules:
                503
            case .unsupportedVersion: 505
            }
        }

        /// The same for every problem of the code.
        var title: String {
            switch self {
            case .malformedJSON: "The body is not valid JSON"
            case .unknownField: "There is no such field"
            case .invalidField: "A field has a value that it cannot have"
            case .missingField: "A field is missing"
            case .connectionClosed: "The connection was closed while it waited"
            case .unauthenticated: "The request is not authenticated"
            case .forbidden: "The client may not do that"
            case .foreignOrigin: "Pages of this origin may not use the daemon"
            case .wrongToken: "The token is not the transition's own"
            case .notFound: "There is nothing here"
            case .unknownScene: "There is no such scene"
            case .unknownTransition: "There is no such transition"
            case .methodNotAllowed: "The method is not allowed here"
            case .notAcceptable: "There is no representation that is accepted"
            case .busy: "Another transition is in the way"
            case .inUse: "A transition uses an entry of the storyboard"
            case .alreadyEnded: "The transition has ended otherwise"
            case .alreadyDecided: "The gesture is decided otherwise"
            case .alreadyPerformed: "The transition has another operation already"
            case .interrupted: "The transition is being interrupted"
            case .notInteractive: "The transition is not interactive"
            case .notRunning: "The transition does not run yet"
            case .tooLate: "The transition runs already, or is over"
            case .guarded: "Another client guards what would be removed"
            case .expired: "The transition ended without its owner"
            case .rejected: "The transition was not possible"
            case .superseded: "Another transition with the same key remained instead"
            case .revoked: "The transition was taken from its owner"
            case .bodyTooLarge: "The body is too large"
            case .unsupportedMediaType: "The body is of a type that is not read here"
            case .headersTooLarge: "The header fields are too large"
            case .misdirectedRequest: "The request is for another host"
            case .idempotencyKeyReused: "The idempotency key was given with another request"
            case .expectationFailed: "What was expected does not hold"
            case .revisionMismatch: "The storyboard has another version"
            case .alreadyDeclared: "The scene is declared already"
            case .unknownTransitionType: "There is no such transition type"
            case .unknownController: "There is no such controller"
            case .wrongKind: "The controller is of another kind"
            case .alreadyPresenting: "The presenter presents another controller already"
            case .notVisible: "The presenter is not visible"
            case .alreadyInHierarchy: "The controller is in the hierarchy already"
            case .alreadyOnStack: "The controller is on the stack already"
            case .cannotPushContainer: "A container cannot be pushed"
            case .notOnStack: "The controller is not on the stack"
            case .indexOutOfRange: "The index is out of range"
            case .notAChild: "The controller is not a child"
            case .alreadyAChild: "The controller is a child already"
            case .unknownColumn: "The split has no such column"
            case .columnCollapsed: "The primary column cannot be replaced"
            case .unknownSegue: "There is no such segue"
            case .hierarchyTooLarge: "The hierarchy would be too large"
            case .outsideScope: "The transition does not hold what the operation touches"
            case .queueFull: "The queue is full"
            case .tooManyTransitions: "There are too many unfinished transitions"
            case .tooManyScenes: "There are too many scenes"
            case .tooManySessions: "There are too many sessions"
            case .shareUsedUp: "The share of the memory is used up"
            case .tooManyRequests: "The client makes too many requests"
            case .tooManyConnections: "There are too many connections"
            case .draining: "The daemon is shutting down"
            case .recovering: "Leases from before the machine died may still be held"
            case .journalUnavailable: "The journal cannot be written"
            case .outOfRoom: "The state takes as much memory as it may"
            case .notOwner: "Another node serves the scene"
            case .olderRules: "A node of an earlier version does not know what is asked for"
            case .unsupportedVersion: "The version of HTTP is not spoken here"
            }
        }
    }
}

extension Problem {
    /// The complaint about a field or parameter that nobody knows.
    static func unknown(_ field: String) -> Problem {
        Problem(.unknownField, "There is no field \(quoted(field)) here.", field: field)
    }

    /// The complaint about a field or parameter that has to be there.
    static func missing(_ field: String) -> Problem {
        Problem(.missingField, "The field \(quoted(field)) is missing.", field: field)
    }
}
