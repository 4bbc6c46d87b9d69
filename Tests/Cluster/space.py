"""Fills etcd, and makes room in it as docs/cluster.md says."""

import base64

from processes import QUOTA, Cluster, Member, TooLate, wait_for

# Keys of another user of this etcd.
PREFIX = b"/filler/"
# What one value of the filler has; a request may have 1.5 MB.
PIECE = 1 << 20


class Space:
    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._count = 0

    def fill_to(self, percentage: int) -> None:
        """Fills etcd until this part of the quota is in use; it must be less than what raises the alarm."""
        while self._used() < (QUOTA << 20) * percentage // 100:
            if not self._put():
                raise TooLate(f"etcd has raised its alarm before {percentage} % of the quota are in use")

    def fill(self) -> None:
        """Fills etcd until it raises the alarm NOSPACE, and every member knows that."""
        while self._put():
            pass
        wait_for("etcd raises NOSPACE", lambda: all(self.alarms(member) for member in self.cluster.members))

    def _used(self) -> int:
        status = self.cluster.leader().ask("/v3/maintenance/status", {}) or {}
        return int(status.get("dbSizeInUse", 0))

    def _put(self) -> bool:
        """Whether etcd has had room for another piece."""
        self._count += 1
        key = base64.b64encode(PREFIX + str(self._count).encode()).decode()
        piece = {"key": key, "value": base64.b64encode(bytes(PIECE)).decode()}

        def answer() -> dict | None:
            return self.cluster.leader().ask("/v3/kv/put", piece, patience=10)

        found = wait_for("etcd answers a put", answer)
        if "header" in found:
            return True
        if "space exceeded" in found.get("error", ""):
            return False
        return self._put()

    def alarms(self, member: Member) -> list[dict]:
        found = member.ask("/v3/maintenance/alarm", {"action": "GET"}) or {}
        return [each for each in found.get("alarms", []) if each.get("alarm") == "NOSPACE"]

    def take_away(self) -> None:
        """Deletes the filler: etcd carries out deletes even when it is full."""
        keys = {"key": base64.b64encode(PREFIX).decode(), "range_end": base64.b64encode(b"/filler0").decode()}
        found = wait_for("etcd answers a delete", lambda: self.cluster.leader().ask("/v3/kv/deleterange", keys))
        if "header" not in found:
            raise TooLate(f"etcd refuses a delete: {found}")

    def forget(self) -> None:
        """Has etcd forget its history; the nodes may have just done it."""
        status = wait_for("etcd says its revision", lambda: self.cluster.leader().ask("/v3/maintenance/status", {}))
        revision = status["header"]["revision"]
        wait_for("etcd answers a compaction", lambda: self.cluster.leader().ask(
            "/v3/kv/compaction", {"revision": revision, "physical": True}, patience=10))

    def defragment(self) -> None:
        """Makes the files of the members smaller, the leader's last."""
        leader = self.cluster.leader()
        for member in sorted(self.cluster.members, key=lambda member: member is leader):
            # The answer is empty.
            wait_for(f"{member} is defragmented",
                     lambda: member.ask("/v3/maintenance/defragment", {}, patience=30) is not None)

    def disarm(self) -> None:
        """Takes the alarms back, each by the ID of its member."""
        for alarm in wait_for("etcd answers", lambda: self.cluster.leader().ask(
                "/v3/maintenance/alarm", {"action": "GET"})).get("alarms", []):
            self.cluster.leader().ask("/v3/maintenance/alarm", {**alarm, "action": "DEACTIVATE"})
        wait_for("the alarm is taken back", lambda: not any(map(self.alarms, self.cluster.members)))
