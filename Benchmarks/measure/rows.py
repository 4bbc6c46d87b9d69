"""Which servers and measures the table has, and what is compared with what."""

from measure.table import RatioRow, Row

# The columns. The servers without a journal of the arbiter's are what it is compared with.
SERVERS = {
    "floor": "C handler",
    "memory": "memory",
    "session": "memory, sessions",
    "crash": "crash",
    "power": "power",
    "redis": "Redis",
    "redis-always": "Redis, fsync",
    "etcd": "etcd",
}

# What every server is compared with.
FLOOR = {server: "floor" for server in SERVERS if server != "floor"}
MEMORY = {"session": "memory", "crash": "memory", "power": "memory"}
# With the one that keeps as much.
REDIS = {"memory": "redis", "crash": "redis", "power": "redis-always"}
ETCD = {"power": "etcd"}


def percentiles(prefix: str) -> tuple[str, ...]:
    return tuple(f"{prefix}-{name}" for name in ("p50", "p99", "p99.9"))


# The rows of the README's table, in the order of ROWS.
SUMMARY = {"own-64-rate", "own-1-request", "shared-2-hand-over", "shared-64-rate", "shared-64-p50"}

ROWS: list[Row | RatioRow] = [
    Row("64 clients, a key each: start+end cycles", ("own-64-rate",)),
    RatioRow("… against the C handler", "own-64-rate", FLOOR),
    RatioRow("… against etcd", "own-64-rate", ETCD),
    Row("… processor time a request", ("own-64-processor",)),
    RatioRow("… against the C handler", "own-64-processor", FLOOR),
    Row("1 client alone: a request of start+end", ("own-1-request",)),
    RatioRow("… against memory", "own-1-request", MEMORY),
    Row("… processor time a request", ("own-1-processor",)),
    RatioRow("… against memory", "own-1-processor", MEMORY),
    Row("2 clients, one key: a hand-over", ("shared-2-hand-over",)),
    RatioRow("… against memory", "shared-2-hand-over", MEMORY),
    Row("… processor time a request", ("shared-2-processor",)),
    Row("2 clients, one key: from release to grant, p50 / p99 / p99.9", percentiles("shared-2")),
    Row("64 clients, one key: hand-overs", ("shared-64-rate",)),
    RatioRow("… against Redis", "shared-64-rate", REDIS),
    RatioRow("… against etcd", "shared-64-rate", ETCD),
    Row("… processor time a request", ("shared-64-processor",)),
    Row("64 clients, one key: from release to grant, p50 / p99 / p99.9", percentiles("shared-64")),
    Row("… fewest / most grants of one client", ("shared-64-fewest", "shared-64-most")),
    Row("bytes written a transition, 64 clients", ("own-64-written",)),
    Row("bytes written a transition, 1 client", ("own-1-written",)),
    Row("fairness, 64 clients: grants checked", ("fairness-grants",)),
    Row("fairness: grants that overtook another", ("fairness-overtaking",)),
    Row("10,000 parked: memory each", ("parked-memory",)),
    Row("… processor time a second while they wait", ("parked-resting",)),
    Row("… processor time to wake one", ("parked-waking",)),
    Row("… from the end to the answer: p50 / p99 / p99.9", percentiles("parked")),
    Row("1,000 readers: from a start to its answer, p50 / p99 / p99.9", percentiles("streams-1000-answer")),
    Row("… from a start to its event, p50 / p99 / p99.9", percentiles("streams-1000-event")),
    Row("the core alone: end, grant and a new ticket, with 10 / 100,000 tickets",
        ("hand-over-10-1000", "hand-over-100000-1000")),
    Row("… with 10 / 6,000 controllers", ("hand-over-1000-10", "hand-over-1000-6000")),
    Row("… a ticket with a coalescing key, which gives up, with 10 / 1,000 / 100,000 tickets",
        ("keyed-10-1000", "keyed-1000-1000", "keyed-100000-1000")),
    Row("… for one name without a tree, with 10 / 100,000 tickets", ("name-10-100", "name-100000-100")),
    Row("… for one name, shared in turns, with 10 / 100,000 tickets", ("shared-10-100", "shared-100000-100")),
    Row("… for any of ten names, with 10 / 100,000 tickets", ("any-10-100", "any-100000-100")),
    Row("from the kill of a holder to the next grant", ("kill",)),
    Row("start of the daemon, empty journal", ("recovery-0",)),
    Row("start of the daemon, longest journal measured", ("recovery-longest",)),
    Row("records in that journal", ("recovery-records",)),
    Row("memory a scene", ("memory-scene",)),
    Row("memory a ticket", ("memory-ticket",)),
    Row("memory a session", ("memory-session",)),
]


def is_in_summary(row: Row | RatioRow) -> bool:
    return isinstance(row, Row) and not SUMMARY.isdisjoint(row.measures)
