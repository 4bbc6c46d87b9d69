"""Makes pictures of the page in headless Chromium, light and dark: `screenshots.py FOLDER`."""

import os
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

SIZE = {"width": 1440, "height": 980}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    play = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("still.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if play.stdout.readline() != "still\n":
        sys.exit("The play has not come to its end.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=["--no-sandbox", "--disable-gpu"])
        for scheme in ["light", "dark"]:
            page = browser.new_page(viewport=SIZE, color_scheme=scheme, reduced_motion="reduce")
            page.goto(f"{os.environ.get('PAGE_URL', os.environ['ARBITER_URL'])}/?scene=main")
            page.locator("#waiting-cards > .card").nth(2).wait_for()
            # So that the piece fills the timeline.
            for _ in range(2):
                page.get_by_role("button", name="Show a shorter time").click()
            expect(page.locator("#zoom")).to_have_text("20 s")
            page.locator("#wires-drawn path").nth(2).wait_for(state="attached")
            page.screenshot(path=folder / f"page-{scheme}.png")
        browser.close()
    play.communicate()


main(Path(sys.argv[1]))
