"""A page in the browser, as a reader uses it: clicks, keys, and what is to be seen."""

from __future__ import annotations

import json
import time
from typing import Any


class Page:
    """The open page."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, address: str) -> None:
        """Opens an address as if for the first time."""
        self.driver.get("about:blank")
        self.driver.get(address)

    def size(self, width: int, height: int) -> None:
        """The room for the page, also less than a window has at least."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def theme(self, name: str) -> None:
        """Whether the reader's system is light or dark."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def all(self, selector: str) -> list[Any]:
        """The elements that can be seen."""
        return [one for one in self.driver.find_elements("css selector", selector) if one.is_displayed()]

    def text(self, selector: str) -> str:
        """The text of the first such element."""
        return str(self.all(selector)[0].text)

    def click(self, selector: str, text: str = "") -> None:
        """Clicks on the first such element that has a text in it, again where the page was redrawn meanwhile, and waits
        until the page has answered."""
        from selenium.common.exceptions import StaleElementReferenceException

        for _ in range(5):
            try:
                self._click(selector, text)
                self._answered()
                return
            except StaleElementReferenceException:
                continue
        raise AssertionError(f"{selector} is redrawn again and again")

    def _click(self, selector: str, text: str) -> None:
        (one, *_) = [element for element in self.all(selector) if text in element.text]
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", one)
        one.click()

    def press(self, keys: str) -> None:
        """Presses keys where the focus is, and waits until the page has answered."""
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(keys).perform()
        self._answered()

    def _answered(self) -> None:
        """Waits for what the browser was still to do: that the address has another fragment reaches the page as an
        event of its own, after the click."""
        self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1];"
            "setTimeout(() => requestAnimationFrame(() => setTimeout(done)))"
        )

    @property
    def fragment(self) -> str:
        """The part of the address that says where on the page one is."""
        return str(self.driver.execute_script("return location.hash"))

    @property
    def step(self) -> int:
        """The step that is shown."""
        return int(self.driver.execute_script("return document.querySelector('[aria-current=step]').dataset.row"))

    def run(self, script: str, *arguments: object) -> Any:
        """What a script returns."""
        return self.driver.execute_script(script, *arguments)

    def later(self, script: str, *arguments: object) -> Any:
        """What a script gives to its last argument, a function, when it is ready."""
        return self.driver.execute_async_script(script, *arguments)

    def wait(self, script: str) -> Any:
        """What a script returns once that is something. Errors: `AssertionError` where it is nothing for 10 s."""
        until = time.monotonic() + 10
        while not (found := self.run(script)):
            assert time.monotonic() < until, f"never so: {script}"
            time.sleep(0.02)
        return found

    def requests(self) -> list[str]:
        """The addresses that were asked for since the last call."""
        entries = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [one["params"]["request"]["url"] for one in entries if one["method"] == "Network.requestWillBeSent"]

    def axe(self) -> list[str]:
        """What axe-core finds that is serious, as sentences."""
        from importlib.resources import files

        script = files("axe_selenium_python").joinpath("node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")
        if not self.run("return Boolean(window.axe)"):
            self.run(script)
        found = self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1]; axe.run(document).then(done, (error) => done({passes: [],"
            " violations:"
            " [{impact: 'serious', id: 'failed', help: String(error), nodes: []}]}));"
        )
        assert len(found["passes"]) > 10, "axe-core has looked at the page"
        return [
            f"{one['id']}: {one['help']}: {[node['html'][:160] for node in one['nodes']][:3]}"
            for one in found["violations"]
            if one["impact"] in ("serious", "critical")
        ]
