"""How much is measured: a whole run, or a quick one."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    # Values of every figure.
    rounds: int
    # For how long clients race in one round.
    seconds: float
    parked: int
    # For how long the parked connections are left waiting.
    resting_seconds: float
    readers: tuple[int, ...]
    # Grants that readers follow.
    grants: int
    kills: int
    # Lengths of journals, in cycles; each has two records.
    journal_cycles: tuple[int, ...]
    # Scenes, tickets and sessions whose memory is measured.
    kept: int
    # What an attack builds, as a part of what the default settings let it build.
    attack_scale: float
    # How long an attack lasts that repeats something.
    attack_seconds: float


@dataclass(frozen=True)
class ClusterPlan:
    # Values of every figure but those of moves.
    rounds: int
    # For how long clients race in one round.
    seconds: float
    # How often a node is killed, and stopped.
    moves: int


WHOLE_CLUSTER = ClusterPlan(rounds=5, seconds=3, moves=5)
QUICK_CLUSTER = ClusterPlan(rounds=3, seconds=1, moves=2)

WHOLE = Plan(rounds=5, seconds=3, parked=10_000, resting_seconds=5, readers=(1, 10, 100, 1_000), grants=100, kills=5,
             journal_cycles=(500, 5_000, 20_000, 50_000, 95_000), kept=8_000,
             attack_scale=1, attack_seconds=5)
QUICK = Plan(rounds=3, seconds=0.5, parked=10_000, resting_seconds=1, readers=(1, 10, 100, 1_000), grants=20, kills=2,
             journal_cycles=(500, 5_000, 20_000), kept=8_000,
             attack_scale=0.2, attack_seconds=2)
