"""Starts the daemon, the servers of web pages, and the browser that opens them."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from daemon import PATIENCE, Daemon
from pages import PageServer
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

# Names that mean this machine in the browser, and nothing anywhere else.
NAMES = ["evil.example", "kiosk.example"]


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A private key, and a certificate that the browser is told not to look at."""
    path = tmp_path_factory.mktemp("tls") / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
         "-subj", "/CN=kiosk.example", "-keyout", path, "-out", path.with_suffix(".crt")],
        check=True, capture_output=True, timeout=PATIENCE)
    path.write_bytes(path.read_bytes() + path.with_suffix(".crt").read_bytes())
    return path


@pytest.fixture(scope="session")
def pages() -> Iterator[PageServer]:
    with PageServer() as server:
        yield server


@pytest.fixture(scope="session")
def other_pages() -> Iterator[PageServer]:
    with PageServer() as server:
        yield server


@pytest.fixture(scope="session")
def secure_pages(certificate: Path) -> Iterator[PageServer]:
    with PageServer(certificate) as server:
        yield server


@pytest.fixture(scope="session")
def public_pages(certificate: Path) -> Iterator[PageServer]:
    """Serves pages that the browser takes for those of a site in the internet."""
    with PageServer(certificate) as server:
        yield server


@pytest.fixture(scope="session")
def browser(public_pages: PageServer) -> Iterator[Browser]:
    # No other name means anything, so that nothing leaves the machine.
    rules = [f"MAP {name} 127.0.0.1" for name in NAMES] + ["MAP * ~NOTFOUND", "EXCLUDE localhost", "EXCLUDE 127.0.0.1"]
    arguments = [
        "--no-sandbox", "--disable-gpu", f"--host-resolver-rules={', '.join(rules)}",
        f"--ip-address-space-overrides=127.0.0.1:{public_pages.server_port}=public"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=arguments, timeout=120_000)
        yield browser
        browser.close()


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    """A daemon as it is by default: no page of another origin is allowed."""
    with Daemon(tmp_path) as daemon:
        yield daemon


@pytest.fixture
def kiosk(pages: PageServer) -> str:
    """The origin that is allowed."""
    return pages.origin("kiosk.example")


@pytest.fixture
def allowing(tmp_path: Path, kiosk: str) -> Iterator[Daemon]:
    """A daemon that allows the pages of the kiosk."""
    with Daemon(tmp_path, "--allow-origin", kiosk) as daemon:
        yield daemon


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(ignore_https_errors=True)
    context.set_default_timeout(PATIENCE * 1000)
    yield context
    context.close()


@pytest.fixture
def open_page(context: BrowserContext) -> Callable[[str], Page]:
    def open_page(url: str) -> Page:
        page = context.new_page()
        page.goto(url)
        return page

    return open_page
