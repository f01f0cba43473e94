"""Chromium, where there is one: what a person with a browser does and sees."""

import json
import tempfile
from collections.abc import Callable, Iterator
from typing import TypeVar
from urllib.parse import urlsplit

import pytest
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.expected_conditions import staleness_of
from selenium.webdriver.support.ui import WebDriverWait

from tests.needs import BROWSER, DRIVER

T = TypeVar("T")
_SECONDS = 120
_FLAGS = (
    *("headless=new", "no-sandbox", "no-first-run", "window-size=1280,900"),
    *(
        f"disable-{name}"
        for name in ("gpu", "quic", "dev-shm-usage", "background-networking", "component-update", "sync")
    ),
)


class Browser:
    """One window on the pages of a server; all that it asks of the network, and its console, is kept."""

    def __init__(self, driver: webdriver.Chrome, url: str) -> None:
        self.driver = driver
        self.url = url

    def open(self, path: str = "") -> None:
        self.driver.get(self.url + path)

    def size(self, width: int, height: int) -> None:
        """Set the size of the page, as on a phone or a desktop."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def texts(self, selector: str) -> list[str]:
        return self.until(lambda: [element.text for element in self.all(selector)])

    def labels(self, selector: str) -> list[str]:
        return self.until(lambda: [str(element.get_attribute("aria-label")) for element in self.all(selector)])

    def button(self, *texts: str) -> WebElement:
        """Wait for a visible button whose label begins with one of the texts, the first of them that has one."""

        def found() -> WebElement | None:
            there = {element.text: element for element in self.all("button") if element.is_displayed()}
            return next((one for text in texts for name, one in there.items() if name.startswith(text)), None)

        return self.until(found)

    def click(self, *texts: str) -> str:
        """Click the button and return its text."""
        return str(self.until(lambda: self._clicked(self.button(*texts)))[0])

    def act(self, *texts: str) -> str:
        """Click the button, wait until the page has answered and the button is gone, and return its text."""
        name, button = self.until(lambda: self._clicked(self.button(*texts)))
        WebDriverWait(self.driver, _SECONDS, 0.02).until(staleness_of(button))
        return str(name)

    def _clicked(self, button: WebElement) -> tuple[str, WebElement]:
        name = button.text
        button.click()
        return name, button

    def shows(self, selector: str, text: str = "") -> WebElement:
        """Wait for a visible element with this text, and return the first."""
        return self.until(
            lambda: next((one for one in self.all(selector) if text in one.text and one.is_displayed()), None)
        )

    def press(self, selector: str, text: str = "") -> None:
        """Click the element once it is there and can be clicked."""

        def pressed() -> bool:
            element = self.shows(f"{selector}:not([disabled])", text)
            self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
            element.click()
            return True

        self.until(pressed)

    def fill(self, label: str, text: str) -> None:
        """Replace the text of a field."""
        field = self.shows(f'[aria-label="{label}"]')
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text)

    def tab(self, name: str) -> None:
        self.until(
            lambda: next((tab for tab in self.all("[role=tab]") if tab.text.lower() == name.lower()), None)
        ).click()

    def until(self, sought: Callable[[], T | None]) -> T:
        """Wait until `found` returns something, and return it; elements may be replaced meanwhile."""
        stale = (StaleElementReferenceException,)
        answer = WebDriverWait(self.driver, _SECONDS, 0.05, stale).until(lambda _: sought())
        assert answer
        return answer

    def foreign_requests(self) -> list[str]:
        """Addresses of other servers that were requested since the last call."""
        urls = []
        for row in self.driver.get_log("performance"):  # type: ignore[no-untyped-call]
            message = json.loads(row["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                urls.append(message["params"]["request"]["url"])
        assert urls
        mine = urlsplit(self.url).netloc
        return [url for url in urls if urlsplit(url).scheme in ("http", "https") and urlsplit(url).netloc != mine]

    def errors(self) -> list[str]:
        """Warnings and errors of the console since the last call."""
        return [row["message"] for row in self._console() if row["level"] in ("SEVERE", "WARNING")]

    def _console(self) -> list[dict[str, str]]:
        return list(self.driver.get_log("browser"))  # type: ignore[no-untyped-call]

    def check_page(self) -> None:
        """Everything has a name, nothing is wider than a phone, the console has no error, no other server is asked."""
        assert self.nameless() == []
        for width in (390, 1280):
            self.size(width, 900)
            self.until(lambda: self.overflow() <= 0)
        assert self.errors() == []
        assert self.foreign_requests() == []

    def nameless(self) -> list[str]:
        """Buttons, links, fields and pictures that a screen reader could not name; text of icons is hidden."""
        script = """const hidden = '[aria-hidden=true]';
            const text = (e) => {
                const copy = e.cloneNode(true);
                copy.querySelectorAll(hidden).forEach(one => one.remove());
                return copy.textContent.trim();
            };
            return [...document.querySelectorAll('button, a, input, [role=img], [role=slider], img')]
                .filter(e => !(e.getAttribute('aria-label') || e.alt || e.labels?.length || e.closest('label')
                    || e.closest(hidden) || text(e)))
                .map(e => e.outerHTML)"""
        return list(self.driver.execute_script(script))

    def overflow(self) -> int:
        """Pixels by which the page is wider than the window."""
        script = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        return int(self.driver.execute_script(script))


def open_browser(url: str) -> Iterator[Browser]:
    """For a fixture; skips where there is no chromium or no driver for it, and fails where that does not start."""
    if BROWSER is None or DRIVER is None:
        pytest.skip("no chromium with chromedriver on the PATH")
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*_FLAGS, f"user-data-dir={profile}"):
            options.add_argument(f"--{flag}")
        chrome = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
        try:
            yield Browser(chrome, url)
        finally:
            chrome.quit()
