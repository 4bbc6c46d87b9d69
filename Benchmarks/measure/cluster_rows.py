"""Which clusters and measures the table of `make cluster-bench` has."""

from measure.rows import percentiles
from measure.table import RatioRow, Row

# The columns.
SERVERS = {
    "etcd-lock": "etcd's lock",
    "nodes-1": "1 node, 64 shards",
    "nodes-2": "2 nodes, 64 shards",
    "nodes-3": "3 nodes, 64 shards",
    "nodes-1-shards-1": "1 node, 1 shard",
    "nodes-3-shards-3": "3 nodes, 3 shards",
}

ETCD = {server: "etcd-lock" for server in SERVERS if server != "etcd-lock"}

ROWS: list[Row | RatioRow] = [
    row
    for clients in (64, 240)
    for row in (
        Row(f"{clients} clients, a key each: cycles of taking and releasing", (f"own-{clients}-rate",)),
        RatioRow("… against etcd's lock", f"own-{clients}-rate", ETCD),
        Row("… commits of etcd a cycle", (f"own-{clients}-commits",)),
        Row("… processor time a cycle: nodes", (f"own-{clients}-nodes",)),
        Row("… processor time a cycle: members of etcd", (f"own-{clients}-members",)),
    )
] + [
    row
    for clients in (2, 64)
    for row in (
        Row(f"{clients} clients, one key: hand-overs", (f"shared-{clients}-rate",)),
        RatioRow("… against etcd's lock", f"shared-{clients}-rate", ETCD),
        Row("… from release to grant, p50 / p99 / p99.9", percentiles(f"shared-{clients}")),
        Row("… commits of etcd a cycle", (f"shared-{clients}-commits",)),
    )
] + [
    Row("the lease of a node", ("lease",)),
    Row("from SIGKILL to the next grant, first / last of 8 scenes", ("kill-first", "kill-last")),
    Row("from SIGTERM to the next node's grant, first / last of 8 scenes", ("drain-first", "drain-last")),
    Row("… longest time without a grant in one scene", ("drain-gap",)),
    Row("… to the end of the process", ("drain-exit",)),
    Row("from the start of a node until it has its share", ("join",)),
]
