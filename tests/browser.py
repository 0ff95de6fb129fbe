"""A real Chromium, driven through chromedriver with the standard library alone."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--autoplay-policy=no-user-gesture-required",
    "--mute-audio",
)
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"right": "\ue014", "left": "\ue012", "space": " ", "escape": "\ue00c", "enter": "\ue007", "tab": "\ue004"}


class Page:
    """One tab: go somewhere, look, click, type, and read the console."""

    def __init__(self, base: str) -> None:
        self._base = base

    def go(self, url: str) -> None:
        self._ask("POST", "/url", {"url": url})

    def run(self, script: str, *values: Any) -> Any:
        """The value of a script's `return`; a promise is waited for."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(values)})

    def find(self, selector: str) -> str:
        found = self._ask("POST", "/element", {"using": "css selector", "value": selector})
        return str(found[ELEMENT])

    def click(self, selector: str) -> None:
        self._ask("POST", f"/element/{self.find(selector)}/click", {})

    def text(self, selector: str) -> str:
        return str(self._ask("GET", f"/element/{self.find(selector)}/text"))

    def press(self, *keys: str) -> None:
        """Press and let go of keys, whatever has the focus."""
        names = [KEYS.get(key, key) for key in keys]
        actions = [{"type": kind, "value": name} for name in names for kind in ("keyDown", "keyUp")]
        self._ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def until(self, script: str, seconds: float = 10.0) -> Any:
        """Wait until a script gives something true, and give that."""
        end = time.monotonic() + seconds
        while not (found := self.run(script)):
            assert time.monotonic() < end, f"never came true: {script}"
            time.sleep(0.02)
        return found

    def size(self, width: int, height: int, *, dark: bool = False, scale: float = 1.0) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
        self.cdp("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.cdp("Emulation.setEmulatedMedia", {"features": features})

    def picture(self, path: Path) -> Path:
        path.write_bytes(base64.b64decode(self._ask("GET", "/screenshot")))
        return path

    def complaints(self) -> list[str]:
        """What stands in the console since it was last asked: errors and warnings."""
        rows = self._ask("POST", "/se/log", {"type": "browser"})
        return [each["message"] for each in rows if each["level"] in ("SEVERE", "WARNING")]

    def cdp(self, command: str, values: dict[str, Any]) -> Any:
        return self._ask("POST", "/goog/cdp/execute", {"cmd": command, "params": values})

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        return ask(method, self._base + path, body)


def ask(method: str, url: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method, headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        with error:
            raise AssertionError(json.load(error)["value"]["message"]) from None


def needs_chromium() -> tuple[str, str]:
    """Where the browser and its driver are; the test is skipped, and says so, where they are not."""
    found = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if found[0] is None or found[1] is None:
        pytest.skip("no Chromium with its driver here: `make test-deps` installs them")
    return found[0], found[1]


@contextmanager
def chromium() -> Iterator[Page]:
    """A browser with a new profile, gone with the block."""
    browser, driver = needs_chromium()
    with (
        TemporaryDirectory() as profile,
        subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process,
    ):
        try:
            port = _port(process)
            options = {"binary": browser, "args": [*FLAGS, f"--user-data-dir={profile}"]}
            wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            base = f"http://127.0.0.1:{port}/session"
            session = ask("POST", base, {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
            try:
                yield Page(f"{base}/{session}")
            finally:
                ask("DELETE", f"{base}/{session}")
        finally:
            process.terminate()


def _port(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    for line in process.stdout:
        if "successfully on port " in line:
            return int(line.rpartition("on port ")[2].strip(" .\n"))
    raise AssertionError("chromedriver ended before it listened")


def wait(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait until something on this side is true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "never came true"
        time.sleep(0.01)
