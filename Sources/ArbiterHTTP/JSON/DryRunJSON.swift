internal import ArbiterCore

/// Why a request would not run now.
enum DryRunReason: String, Hashable, Sendable, CaseIterable {
    /// Unfinished transitions are in the way.
    case busy
    /// Nothing is granted until the leases of before are over.
    case recovering
    /// An older ticket with its coalescing key remains.
    case superseded
    /// One of its conditions does not hold, and it would wait for them.
    case unmet
}

extension DryRun {
    /// The answer as an object; its lists may be long.
    var document: JSONDocument {
        var parts: [JSONDocument.Part] = [
            .brief { writer in
                writer.beginObject()
                writer.members(of: self)
            }
        ]
        var names = 0
        if let preview, let plan = preview.plan {
            names = plan.inserted.count + plan.removed.count + preview.appearance.count
            parts += JSONDocument.Part.array("inserted", plan.inserted) { $0.string($1.description) }
            parts += JSONDocument.Part.array("removed", plan.removed) { $0.string($1.description) }
            let appearance = preview.appearance
            if !appearance.isEmpty {
                parts += JSONDocument.Part.array("appearance", appearance) { writer, event in
                    writer.object { $0.members(of: event) }
                }
            }
        }
        parts.append(
            .brief { writer in
                writer.endObject()
                writer.endLine()
            })
        return JSONDocument(parts, keeping: names * Limits.bytesPerName)
    }

    private var preview: Preview? {
        switch outcome {
        case .granted(let preview), .grantedInterrupting(_, let preview): preview
        case .noop, .blocked, .interrupting, .withheld, .superseded, .setAside: nil
        }
    }

    /// Whom it would interrupt.
    fileprivate var interrupted: [TransitionID] {
        switch outcome {
        case .interrupting(let ids, _), .grantedInterrupting(let ids, _): ids
        case .granted, .noop, .blocked, .withheld, .superseded, .setAside: []
        }
    }

    /// Why it would not run; `nil` if it would.
    fileprivate var reason: DryRunReason? {
        switch outcome {
        case .granted, .grantedInterrupting, .noop: nil
        case .blocked, .interrupting: .busy
        case .withheld: .recovering
        case .superseded: .superseded
        case .setAside: .unmet
        }
    }
}

extension JSONWriter {
    /// The members that are never long.
    fileprivate mutating func members(of dryRun: DryRun) {
        member("wouldRun", dryRun.reason == nil)
        if let reason = dryRun.reason { member("reason", reason.rawValue) }
        switch dryRun.outcome {
        case .blocked(let blockers), .interrupting(_, let blockers): member("blockers", blockers)
        case .granted, .grantedInterrupting, .noop, .withheld, .superseded, .setAside:
            member("blockers", [TransitionID]())
        }
        if !dryRun.interrupted.isEmpty { member("wouldInterrupt", dryRun.interrupted) }
        member("scene", dryRun.scene.description)
        member("scope", dryRun.scope)
        member("revision", dryRun.revision.rawValue)
        switch dryRun.outcome {
        case .granted(let preview), .grantedInterrupting(_, let preview):
            resolved(preview.resolved, isSummary: false)
            if let animation = preview.animation { member("animation", animation) }
            if let presenter = preview.plan?.presenter { member("presenter", presenter) }
            if !preview.participants.isEmpty { member(preview.participants) }
        case .noop: member("noop", true)
        case .blocked, .interrupting: break
        case .withheld(let remaining): member("retryAfter", Problem.seconds(of: remaining))
        case .superseded(let older): member("supersededBy", older)
        case .setAside(let unmet):
            member("awaits", Awaited.expectation.rawValue)
            object("unmetExpectation") { $0.members(of: unmet) }
        }
    }
}
