"""The metrics, as Prometheus's own tools read them."""

import json
import re
import subprocess
import time
import urllib.request
from pathlib import Path

from waiting import PATIENCE, Lines, polled

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
RULES = DEPLOY / "prometheus" / "arbiterd.rules.yaml"
DASHBOARD = DEPLOY / "grafana" / "arbiterd.json"

# Samples have labels of these names only.
LABELS = {"route", "status", "code", "result", "outcome", "reason", "state", "le", "version"}


def samples(text: str) -> dict[str, float]:
    return {name: float(value) for name, value in
            (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))}


def work(daemon) -> None:
    """A grant at once, a hand-over, a refusal, a revocation, a session and an expired lease."""
    first = daemon.ask("POST", "/transitions/start", {"client": "secret-client"})[1]
    waiting = daemon.connect()
    waiting.request("POST", "/transitions/serialize?wait=60", '{"client": "b"}', {"Content-Type": "application/json"})
    daemon.follow("/scenes/main/events?since=0").next("transition.queued")
    assert daemon.ask("POST", "/transitions/start", {})[0] == 409
    daemon.ask("POST", "/transitions/end", {"id": first["id"], "token": first["token"]})
    second = json.loads(waiting.getresponse().read())
    daemon.ask("POST", "/transitions/revoke", {"id": second["id"], "reason": "over"})
    daemon.ask("POST", "/sessions", {"client": "secret-client"})
    daemon.ask("POST", "/transitions/start", {"scene": "secret-scene", "leaseSeconds": 0.1})
    # A request that waits for the end would count as a hand-over.
    ended = daemon.follow("/scenes/secret-scene/events?since=0").next("transition.ended")
    assert ended["outcome"] == "expired"


def test_promtool_finds_nothing_wrong(daemon):
    running = daemon()
    work(running)
    text = running.ask("GET", "/metrics")[1]
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert checked.stdout + checked.stderr == ""


def test_they_count_what_happened(daemon):
    running = daemon()
    before = samples(running.ask("GET", "/metrics")[1])
    assert before['arbiter_grants_total{result="immediate"}'] == 0
    work(running)
    found = samples(running.ask("GET", "/metrics")[1])
    for name, value in {
        'arbiter_grants_total{result="immediate"}': 2, 'arbiter_grants_total{result="queued"}': 1,
        'arbiter_ends_total{outcome="completed",reason=""}': 1, 'arbiter_ends_total{outcome="revoked",reason=""}': 1,
        'arbiter_ends_total{outcome="expired",reason="lease"}': 1, 'arbiter_problems_total{code="busy"}': 1,
        'arbiter_requests_total{route="startTransition",status="409"}': 1,
        'arbiter_requests_total{route="startTransition",status="201"}': 2,
        "arbiter_wait_seconds_count": 3, "arbiter_hold_seconds_count": 3, "arbiter_handoff_seconds_count": 1,
        "arbiter_sessions": 1, "arbiter_scenes": 2, 'arbiter_transitions{state="granted"}': 0,
        'arbiter_transitions{state="queued"}': 0, "arbiter_journal_available": 1, "arbiter_holding_grants": 0,
        'arbiter_request_seconds_count{route="startTransition"}': 3, "arbiter_state_limit_bytes": 128 << 20,
        "arbiter_parked_connections_limit": 10_000, "arbiter_long_answers": 0, "arbiter_journal_failures_total": 0,
    }.items():
        assert found[name] == value, name
    assert found["arbiter_journal_commit_seconds_count"] >= 6
    assert found["arbiter_journal_commit_records_sum"] == 7
    assert found["process_resident_memory_bytes"] > 1e6
    assert found["arbiter_journal_bytes_total"] > 7
    assert found["arbiter_connections_accepted_total"] >= found["arbiter_connections"] > 0
    assert found["process_max_fds"] > found["process_open_fds"] > 3
    assert found["process_cpu_seconds_total"] > 0
    assert abs(time.time() - found["process_start_time_seconds"]) < PATIENCE
    assert [value for name, value in found.items() if name.startswith("arbiter_build_info{version=")] == [1]


def test_a_restart_counts_nothing_again(daemon):
    running = daemon()
    work(running)
    running.kill()
    running.start()
    found = samples(running.ask("GET", "/metrics")[1])
    assert found['arbiter_grants_total{result="immediate"}'] == 0
    assert found["arbiter_hold_seconds_count"] == 0
    assert found["arbiter_sessions"] == 1


def test_no_label_names_a_client_a_scene_or_a_transition(daemon):
    running = daemon()
    work(running)
    text = running.ask("GET", "/metrics")[1]
    assert set(re.findall(r'[{,](\w+)="', text)) <= LABELS
    assert "secret" not in text


def test_the_rules_and_the_dashboard_use_what_there_is(daemon):
    assert subprocess.run(["promtool", "check", "rules", RULES], capture_output=True).returncode == 0
    running = daemon()
    work(running)
    known = {name.split("{")[0] for name in samples(running.ask("GET", "/metrics")[1])}
    known |= {"up", "arbiter_tls_certificate_expiration_seconds"}
    rules = re.findall(r"expr: (.*)", RULES.read_text())
    panels = [target["expr"] for panel in json.loads(DASHBOARD.read_text())["panels"] for target in panel["targets"]]
    assert len(rules) > 10 and len(panels) > 10
    for expression in rules + panels:
        names = re.findall(r"\b(?:arbiter|process)_\w+|\bup\b", expression)
        # A single daemon has no cluster; make readme-test compares these with what a node exposes.
        assert names and {name for name in names if not name.startswith("arbiter_cluster_")} <= known, expression


def test_prometheus_scrapes_them(daemon, tmp_path):
    running = daemon()
    work(running)
    (tmp_path / "prometheus.yml").write_text(f"""
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{RULES}]
scrape_configs:
  - job_name: arbiterd
    static_configs: [{{targets: ["127.0.0.1:{running.port}"]}}]
""")
    server = subprocess.Popen(
        ["prometheus", f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/tsdb",
         "--web.listen-address=127.0.0.1:0"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    log = Lines(server.stderr)

    def query(path: str) -> object:
        with urllib.request.urlopen(f"{url}/api/v1/{path}", timeout=PATIENCE) as answer:
            return json.load(answer)["data"]

    def value(expression: str) -> str | None:
        found = query(f"query?query={urllib.request.quote(expression)}")["result"]
        return found[0]["value"][1] if found else None

    try:
        # It says where it listens, and that it is ready, in either order.
        said = [log.next("TLS is disabled|ready to receive web requests") for _ in range(2)]
        url = "http://" + re.search(r"TLS is disabled.* address=(\S+)", "".join(said))[1]
        assert polled(lambda: value('up{job="arbiterd"}') == "1")
        assert polled(lambda: value('arbiter_grants_total{result="queued"}') == "1")
        assert polled(lambda: value("arbiter_handoff_seconds_count") == "1")
        rules = query("rules")["groups"][0]["rules"]
        assert len(rules) > 10 and all(rule["health"] in ("ok", "unknown") for rule in rules)
        running.stop()
        assert polled(lambda: value('up{job="arbiterd"}') == "0")
    finally:
        server.terminate()
        server.wait(PATIENCE)


def test_metrics_need_a_role_unless_they_are_open(daemon, tmp_path):
    access = tmp_path / "access.yaml"
    access.write_text("principals: []\n")
    closed = daemon("--access", str(access), "--allow-no-one")
    assert closed.ask("GET", "/metrics")[0] == 401
    closed.stop()
    opened = daemon("--access", str(access), "--allow-no-one", "--open-metrics")
    assert opened.ask("GET", "/metrics")[0] == 200
    assert opened.ask("GET", "/transitions")[0] == 401
