"""Makes daemons, proxies and agents, and ends them."""

import pytest

pytest.register_assert_rewrite("harness", "hierarchy_scenarios")
from harness import Agent, Daemon, Proxy


@pytest.fixture
def daemon(tmp_path):
    daemons = []

    def make(*options: str) -> Daemon:
        daemons.append(Daemon(tmp_path / f"{len(daemons)}", *options))
        return daemons[-1]

    yield make
    for made in daemons:
        made.kill()


@pytest.fixture
def agent():
    agents = []

    def make(daemon: Daemon | Proxy, name: str, **options: object) -> Agent:
        agents.append(Agent(daemon.url, name, **options))
        return agents[-1]

    yield make
    for made in agents:
        made.kill()


@pytest.fixture
def proxy():
    proxies = []

    def make(daemon: Daemon) -> Proxy:
        proxies.append(Proxy(daemon))
        return proxies[-1]

    yield make
    for made in proxies:
        made.close()
