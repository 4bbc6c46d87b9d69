internal import ArbiterCore
internal import ArbiterRelay

/// `/cluster`: the nodes, which of them serves each shard, and which shards have moved.
struct ClusterEndpoint: Sendable {
    let shards: Shards

    func show(_ call: Call) throws(Problem) {
        let description = shards.description
        call.respond(
            .json(200) { writer in
                writer.member("shards", shards.count)
                if let address = description.address { writer.member("node", address) }
                writer.member(named: "nodes") { writer in
                    writer.elements(description.map.nodes) { writer, node in
                        writer.object { writer in
                            writer.member("address", node.address)
                            writer.member("version", node.version)
                        }
                    }
                }
                writer.member(named: "owners") { writer in
                    writer.elements(description.map.owners.sorted { $0.key < $1.key }) { writer, entry in
                        writer.object { writer in
                            writer.member("shard", entry.key)
                            writer.member("node", entry.value.address)
                            writer.member("tenure", entry.value.tenure)
                        }
                    }
                }
                writer.member(named: "moves") { writer in
                    writer.elements(description.moves.reversed()) { writer, move in
                        writer.object { writer in
                            writer.member("at", move.at)
                            writer.member("shard", move.shard)
                            if let origin = move.origin { writer.member("from", origin) }
                            writer.member("to", move.owner.address)
                            writer.member("tenure", move.owner.tenure)
                        }
                    }
                }
                writer.writeUnserved(shards)
                if let reason = shards.waitsFor { writer.member("waitsFor", reason) }
            })
    }
}

extension JSONWriter {
    /// Writes which shards no node can serve, and why; nothing if there is none.
    mutating func writeUnserved(_ shards: Shards) {
        let unserved = shards.unserved
        guard !unserved.isEmpty else { return }
        member(named: "unserved") { writer in
            writer.elements(unserved) { writer, entry in
                writer.object { writer in
                    writer.member("shard", entry.shard)
                    writer.member("node", entry.why.node)
                    writer.member("reason", entry.why.reason)
                }
            }
        }
    }
}
