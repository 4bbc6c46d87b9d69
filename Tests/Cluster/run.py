"""Runs three nodes on three members of etcd, has clients work with them, and brings faults about.

See scripts/cluster-test.
"""

import argparse
import collections
import dataclasses
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

from clients import EverythingWatcher, Watcher, World, clock, everybody
from faults import Faults
from history import Checker, unheard
from processes import Cluster, TooLate, Version, wait_for


class Run:
    # How much room there has to be for the members' data in memory; they write more than any disk of a runner commits.
    BYTES_OF_DATA = 4 << 30

    def __init__(self, options: argparse.Namespace, logs: Path) -> None:
        (self.options, self.logs) = (options, logs)
        self.outages: dict[str, list[float]] = collections.defaultdict(list)
        self.seconds: dict[str, list[float]] = collections.defaultdict(list)
        self.compared: set[str] = set()
        self.done = 0
        # After how many faults something wrong was found.
        self.failed = 0

    def __call__(self) -> list[str]:
        memory = Path("/dev/shm")
        base = memory if memory.is_dir() and shutil.disk_usage(memory).free > self.BYTES_OF_DATA else None
        data = Path(tempfile.mkdtemp(prefix="arbiter-cluster-", dir=base))
        self.cluster = Cluster(self.versions(), self.options.lease, self.options.shards, self.logs, data)
        try:
            return self.work()
        finally:
            self.cluster.close()

    def versions(self) -> list[Version]:
        """The builds that nodes run; all begin with the first."""
        options = self.options
        newest = Version(options.arbiterd)
        if not options.other_arbiterd and not options.other_options:
            return [newest]
        return [Version(options.other_arbiterd or options.arbiterd, tuple(options.other_options.split())), newest]

    def work(self) -> list[str]:
        self.world = World({str(node): node.host.address for node in self.cluster.nodes}, self.options.seed)
        self.clients = everybody(self.world)
        for client in self.clients:
            client.start()
        failures = []
        try:
            self.wait_until_whole(clock())
            self.bring_faults()
        except TooLate as error:
            failures.append(f"the cluster does not recover: {error}")
        self.cluster.network.heal()
        failures += self.finish()
        return failures

    # MARK: - Faults

    def bring_faults(self) -> None:
        faults = Faults(self.cluster, self.world, self.options.seed)
        before = 0
        for number in range(1, self.options.faults + 1):
            kind = faults.draw(self.options.only)
            began, target = clock(), ""
            try:
                target = faults.inject(kind)
                ended = clock()
                self.wait_until_whole(ended)
            except TooLate as error:
                raise TooLate(f"fault {number}, {kind} {target}, begun at {began:.3f}: {error!r}") from None
            whole = clock()
            outage = self.longest_outage(began, whole)
            self.outages[kind].append(outage)
            self.seconds[kind].append(whole - began)
            self.done = number
            print(f"{number:4} {began:11.3f} {kind:19} {target}: {outage:.2f} s until a start was answered again, "
                  f"all nodes {whole - ended:.2f} s after its end", flush=True)
            # The cluster works for a moment, so that leases and tickets are in every state when the next one comes.
            faults.last(0.2, 0.8)
            # The history is checked in the end: only then all calls that were sent are in it.
            found = self.complaints()
            if len(found) > before:
                before = len(found)
                self.failed += 1
                print(f"     {len(found)} violations, the last: {found[-1].splitlines()[0]}", flush=True)
                if not self.options.go_on:
                    return

    def complaints(self) -> list[str]:
        world = self.world
        return world.violations + world.register.violations + world.events.violations + world.failures

    def wait_until_whole(self, since: float) -> None:
        def is_whole() -> bool:
            self.world.violations.extend(self.cluster.revive())
            answered = {node for sent, _, node in self.world.probes[-100:] if sent > since}
            return len(answered) == len(self.cluster.nodes)

        wait_for("all nodes answer a start", is_whole)
        wait_for("etcd is healthy", lambda: all(member.is_healthy for member in self.cluster.members))

    def longest_outage(self, began: float, ended: float) -> float:
        """The longest time in which no start that was sent in it was answered."""
        instants = sorted(answered for _, answered, _ in list(self.world.probes) if began <= answered <= ended)
        times = [began, *instants, ended]
        return max(later - earlier for earlier, later in zip(times, times[1:]))

    # MARK: - The end

    def finish(self) -> list[str]:
        world = self.world
        world.over.set()
        deadline = clock() + 30
        for client in self.clients:
            client.join(max(0.1, deadline - clock()))
        world.abandoned.set()
        failures = [f"{client.name} does not end" for client in self.clients if client.is_alive()
                    and not isinstance(client, Watcher | EverythingWatcher)]
        self.look_once_more()
        behind = {client.scene for client in self.clients if isinstance(client, Watcher)
                  and (client.is_alive() or not client.catch_up())}
        checker = Checker(list(world.calls))
        followed = {client.scene for client in self.clients if isinstance(client, Watcher)} - behind
        self.compared = followed - world.events.reset
        failures += self.complaints() + checker.violations() + world.events.check()
        failures += unheard(checker.calls, world.events, followed)
        return list(dict.fromkeys(failures))

    def look_once_more(self) -> None:
        """Reads what was acknowledged, as far as it is still kept."""
        reader = self.clients[0]
        recent = {call.id: call for call in self.world.calls
                  if call.kind == "end" and call.status == 200 and call.answered > clock() - 300}
        for call in random.Random(self.options.seed).sample(sorted(recent.values(), key=lambda call: call.sent),
                                                           min(len(recent), 3000)):
            reader.look(call.id, call.scene)

    def summarize(self, violations: list[str], seconds: float) -> None:
        world = self.world
        counts = world.counts
        unknown = sum(call.is_uncertain for call in world.calls)
        print(f"\n{self.done} faults in {seconds:.0f} s with seed {self.options.seed}: {counts['requests']} requests, "
              f"{counts['grants']} grants, {counts['ends']} acknowledged ends, {unknown} calls of "
              f"unknown outcome, {counts['sessions']} sessions, {world.events.count} events to followers, "
              f"{world.register.writes} writes with fences ({world.register.refusals} refused), "
              f"{len(violations)} violations")
        if self.options.verbose:
            print(json.dumps(dict(sorted(counts.items())), indent=1))
        print(f"events compared in {len(self.compared)} scenes, {counts['sessions over shards']} sessions over several "
              f"shards ended, {self.cluster.refused} nodes too old for what the others had adopted")
        print("kind                 longest outage (s)  mean time (s)  faults")
        for kind, times in sorted(self.outages.items()):
            mean = sum(self.seconds[kind]) / len(times)
            print(f"{kind:20} {max(times):18.2f} {mean:14.1f} {len(times):7}")

    def keep_history(self) -> None:
        with (self.logs / "history.jsonl").open("w") as file:
            for call in sorted(self.world.calls, key=lambda call: call.sent):
                file.write(json.dumps(dataclasses.asdict(call)) + "\n")
        with (self.logs / "events.txt").open("w") as file:
            for scene, events in self.world.events.heard.items():
                for number in sorted(events):
                    event = events[number]
                    file.write(f"{scene} {number} {event.name} {event.id} {event.fence} {event.outcome}\n")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--arbiterd", type=Path, required=True)
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--other-arbiterd", type=Path, help="an earlier build: nodes begin with it, and are upgraded")
    parser.add_argument("--other-options", default="", help="of the earlier version, or of this build as such")
    parser.add_argument("--lease", type=int, default=2, help="of the nodes, in seconds")
    parser.add_argument("--shards", type=int, default=6)
    parser.add_argument("--only", action="append", help="a kind of fault; can be repeated")
    parser.add_argument("--go-on", action="store_true", help="after a violation, too")
    parser.add_argument("--keep", action="store_true", help="the logs and the history, also without a violation")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    logs = Path(tempfile.mkdtemp(prefix="cluster-test-"))
    print(f"seed {options.seed}, {options.faults} faults, logs in {logs}", flush=True)
    # So that everything is ended and removed then, too.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    began = time.monotonic()
    run = Run(options, logs)
    violations = run()
    run.summarize(violations, time.monotonic() - began)
    if violations or options.keep:
        run.keep_history()
        print(f"logs and history are in {logs}")
    else:
        shutil.rmtree(logs)
    if violations:
        (logs / "violations.txt").write_text("\n".join(violations) + "\n")
        for violation in violations[:20]:
            print(f"violation: {violation}")
        print(f"{len(violations)} violations with seed {options.seed}")
    # What is found in the end only is no fault's.
    failed = max(run.failed, len(violations) > 0)
    print(f"{max(0, run.done - run.failed)} passed, {failed} failed")
    return 1 if violations else 0


if __name__ == "__main__":
    try:
        code = main()
    except SystemExit as exit:
        code = exit.code
    except BaseException:
        traceback.print_exc()
        code = 2
    sys.stdout.flush()
    sys.stderr.flush()
    # What is left of clients that wait must not keep the process.
    os._exit(code if isinstance(code, int) else 2)
