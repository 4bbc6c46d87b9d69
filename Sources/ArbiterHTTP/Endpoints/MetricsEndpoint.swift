internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay
internal import CLinux

/// `/metrics`: what Prometheus scrapes.
///
/// No label names a client, a scene or a transition.
struct MetricsEndpoint: Sendable {
    let shards: Shards
    let hub: EventHub
    let metrics: Metrics
    let places: ServerPlaces
    let longWork: LongWork
    let version: String

    func show(_ call: Call) throws(Problem) {
        let engines = shards.here
        let state = engines.map { engine in engine.inspect { $0.counts } }.reduce(.none, +)
        var page = Exposition()
        page.begin("arbiter_build_info", .gauge, "The version of the daemon.")
        page.sample("arbiter_build_info", ["version": version], 1)
        writeRequests(call.routes, to: &page)
        writeTransitions(state, to: &page)
        writeConnections(to: &page)
        writeJournal(to: &page)
        writeCluster(to: &page)
        writeProcess(to: &page)
        call.respond(Response(200, .metrics, body: Array(page.text.utf8)))
    }

    private func writeRequests(_ routes: [Route], to page: inout Exposition) {
        page.begin("arbiter_requests_total", .counter, "Answers, by the operationId of the call and the status.")
        for route in routes {
            for (status, count) in route.metrics.counts where count > 0 {
                page.sample("arbiter_requests_total", ["route": route.name, "status": "\(status)"], Double(count))
            }
        }
        page.begin(
            "arbiter_request_seconds", .histogram,
            "From the whole request to its answer; a call that waits is answered when its wait is over.")
        for route in routes where route.metrics.durations.counts.contains(where: { $0 > 0 }) {
            page.samples("arbiter_request_seconds", [("route", route.name)], of: route.metrics.durations)
        }
        page.begin("arbiter_problems_total", .counter, "Answers with a problem, by its code.")
        for (code, count) in metrics.problemCounts {
            page.sample("arbiter_problems_total", ["code": code.rawValue], Double(count))
        }
    }

    private func writeTransitions(_ state: StateCounts, to page: inout Exposition) {
        let transitions = metrics.transitions
        page.begin(
            "arbiter_grants_total", .counter, "Transitions that were granted, at once or after they were queued.")
        page.sample("arbiter_grants_total", ["result": "immediate"], Double(transitions.immediateGrants.count))
        page.sample("arbiter_grants_total", ["result": "queued"], Double(transitions.queuedGrants.count))
        page.begin("arbiter_ends_total", .counter, "Transitions that ended, by outcome and reason.")
        for (end, count) in transitions.endCounts {
            page.sample("arbiter_ends_total", ["outcome": end.outcome, "reason": end.reason], Double(count))
        }
        page.single("arbiter_wait_seconds", "From the request of a transition to its grant.", transitions.waits)
        page.single("arbiter_hold_seconds", "From the grant of a transition to its end.", transitions.holds)
        page.single(
            "arbiter_handoff_seconds", "From the turn that grants a transition to the answer of its waiting request.",
            metrics.engine.handOvers)
        page.begin("arbiter_transitions", .gauge, "Unfinished transitions.")
        page.sample("arbiter_transitions", ["state": "queued"], Double(state.queued))
        page.sample("arbiter_transitions", ["state": "granted"], Double(state.granted))
        page.single("arbiter_sessions", .gauge, "Sessions that are alive.", state.sessions)
        page.single("arbiter_scenes", .gauge, "Scenes that exist.", state.scenes)
        page.single(
            "arbiter_state_bytes", .gauge, "The estimated size of the state, without what ended.", state.heldBytes)
        page.single("arbiter_state_ended_bytes", .gauge, "The estimated size of ended transitions.", state.endedBytes)
        page.single(
            "arbiter_state_limit_bytes", .gauge, "What the state may take (--max-memory).",
            shards.here.map { engine in engine.inspect { $0.limits.memory ?? 0 } }.reduce(0, +))
        page.single(
            "arbiter_holding_grants", .gauge, "1 while nothing is granted, because leases may have been lost.",
            state.isHoldingGrants ? 1 : 0)
    }

    private func writeConnections(to page: inout Exposition) {
        let connections = metrics.connections
        page.single("arbiter_connections", .gauge, "Connections that are open.", connections.open.count)
        page.single("arbiter_connections_accepted_total", .counter, "Connections accepted.", connections.accepted.count)
        page.begin("arbiter_connections_closed_total", .counter, "Connections that the daemon closed, by reason.")
        page.sample("arbiter_connections_closed_total", ["reason": "crowd"], Double(connections.crowded.count))
        page.sample("arbiter_connections_closed_total", ["reason": "client"], Double(connections.tooManyOfClient.count))
        page.sample("arbiter_connections_closed_total", ["reason": "slow"], Double(connections.slow.count))
        page.single(
            "arbiter_parked_connections", .gauge, "Requests that wait for their answer, and event streams.",
            places.parked.count)
        page.single(
            "arbiter_parked_connections_limit", .gauge, "How many there may be (--max-parked).", places.parked.limit)
        page.single("arbiter_event_streams", .gauge, "Event streams that are open.", hub.readerCount)
        page.single(
            "arbiter_event_reset_bytes", .gauge,
            "The estimated size of the states that event streams begin with, and have not read to their end.",
            hub.resetBytes)
        page.single("arbiter_large_bodies", .gauge, "Large bodies on their way.", places.largeBodies.count)
        page.single("arbiter_long_answers", .gauge, "Long answers on their way.", places.longAnswers.count)
        page.single(
            "arbiter_long_work", .gauge, "Large requests and long answers that wait to be worked on.", longWork.count)
        page.single(
            "arbiter_answer_bytes", .gauge, "The estimated size of answers on their way.", places.bytesOfAnswers.count)
        if let time = metrics.certificateExpiration {
            page.single(
                "arbiter_tls_certificate_expiration_seconds", .gauge,
                "When the certificate expires, in seconds since 1970.", time)
        }
    }

    private func writeJournal(to page: inout Exposition) {
        let journal = metrics.engine.journal
        page.single("arbiter_journal_commit_seconds", "How long commits of the journal took.", journal.commits)
        page.single("arbiter_journal_commit_records", "How many records a commit had.", journal.groups)
        page.single(
            "arbiter_journal_bytes_total", .counter, "The bytes of the records that were committed.",
            journal.bytes.count)
        page.begin("arbiter_journal_compactions_total", .counter, "Compactions of the journal, by result.")
        page.sample("arbiter_journal_compactions_total", ["result": "done"], Double(journal.compactions.count))
        page.sample("arbiter_journal_compactions_total", ["result": "failed"], Double(journal.failedCompactions.count))
        page.single(
            "arbiter_journal_failures_total", .counter, "How often the journal could not be written.",
            journal.failures.count)
        page.single(
            "arbiter_journal_available", .gauge, "1 while the journal can be written.",
            shards.here.allSatisfy(\.isAvailable) ? 1 : 0)
    }

    /// How the cluster is, as this node knows it; nothing for a single daemon.
    private func writeCluster(to page: inout Exposition) {
        guard let counts = shards.counts else { return }
        page.begin("arbiter_cluster_shards", .gauge, "Shards, by where they are served.")
        page.sample("arbiter_cluster_shards", ["served": "here"], Double(counts.here))
        page.sample("arbiter_cluster_shards", ["served": "elsewhere"], Double(counts.elsewhere))
        page.sample(
            "arbiter_cluster_shards", ["served": "nowhere"], Double(shards.count - counts.here - counts.elsewhere))
        page.single("arbiter_cluster_nodes", .gauge, "Nodes that are registered.", counts.nodes)
        page.single("arbiter_cluster_moves_total", .counter, "How often a shard came to this node.", counts.arrivals)
        page.single(
            "arbiter_cluster_losses_total", .counter, "How often this node lost a shard without handing it over.",
            counts.losses)
        guard let stored = shards.stored else { return }
        page.begin("arbiter_cluster_etcd_bytes", .gauge, "What a member of etcd stores.")
        page.sample("arbiter_cluster_etcd_bytes", ["of": "file"], Double(stored.file))
        page.sample("arbiter_cluster_etcd_bytes", ["of": "use"], Double(stored.used))
    }

    /// The names that Prometheus's own client libraries use.
    private func writeProcess(to page: inout Exposition) {
        var usage = arbiter_process()
        guard unsafe arbiter_process_usage(&usage) == 0 else { return }
        page.begin("process_cpu_seconds_total", .counter, "Processor time that the process has used.")
        page.sample("process_cpu_seconds_total", [:], usage.cpu_seconds)
        page.single("process_resident_memory_bytes", .gauge, "Resident memory.", Int(usage.resident_bytes))
        page.single("process_open_fds", .gauge, "Open files and sockets.", Int(usage.open_files))
        page.single("process_max_fds", .gauge, "How many may be open.", Int(usage.most_files))
        page.begin("process_start_time_seconds", .gauge, "When the process started, in seconds since 1970.")
        page.sample("process_start_time_seconds", [:], usage.started)
    }
}
