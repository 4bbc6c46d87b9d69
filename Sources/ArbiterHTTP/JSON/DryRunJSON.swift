internal import ArbiterCore

/// Why a request would not run now.
enum DryRunReason: String, Hashable, Sendable, CaseIterable {
    /// Unfinished transitions are in the way.
    case busy
    /// Nothing is granted until the leases of before are over.
    case recovering
    /// An older ticket with its coalescing key remains.
    case superseded
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
        if case .granted(let preview) = outcome, let plan = preview.plan {
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

    /// Why it would not run; `nil` if it would.
    fileprivate var reason: DryRunReason? {
        switch outcome {
        case .granted, .noop: nil
        case .blocked: .busy
        case .withheld: .recovering
        case .superseded: .superseded
        }
    }
}

extension JSONWriter {
    /// The members that are never long.
    fileprivate mutating func members(of dryRun: DryRun) {
        member("wouldRun", dryRun.reason == nil)
        if let reason = dryRun.reason { member("reason", reason.rawValue) }
        if case .blocked(let blockers) = dryRun.outcome {
            member("blockers", blockers)
        } else {
            member("blockers", [TransitionID]())
        }
        member("scene", dryRun.scene.description)
        member("scope", dryRun.scope)
        member("revision", dryRun.revision.rawValue)
        switch dryRun.outcome {
        case .granted(let preview):
            if let resolved = preview.resolved { member("resolved", resolved, isSummary: false) }
            if let animation = preview.animation { member("animation", animation) }
            if let presenter = preview.plan?.presenter { member("presenter", presenter) }
        case .noop: member("noop", true)
        case .blocked: break
        case .withheld(let remaining): member("retryAfter", Problem.seconds(of: remaining))
        case .superseded(let older): member("supersededBy", older)
        }
    }
}
