"""What a page itself works: processor time of its main thread, whoever else keeps the machine busy.

A pause by the clock tells more of the machine than of the page: without a graphics card, Chromium
reads every picture of the map back from a renderer in software (`GLES2::ReadPixels`), and the main
thread waits for that without working. Processor time leaves such waiting out.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from playwright.sync_api import CDPSession, Page

__all__ = ["Work", "own_work", "pauses"]

_TRACE_PATIENCE: Final = 60.0
_WAITING: Final = (
    "CommandBufferProxyImpl::WaitForGetOffset",
    "CommandBufferProxyImpl::WaitForTokenInRange",
)
"""Names, in a trace, of waiting for the process that draws."""

_WATCH: Final = """() => {
  window.gaps = [];
  let last = performance.now();
  const beat = () => {
    const now = performance.now();
    window.gaps.push(now - last);
    last = now;
    setTimeout(beat, 16);
  };
  beat();
}"""


class Work:
    """Processor time of a main thread: all of it, that of scripts, and each of its tasks."""

    elapsed: float = 0.0
    all: float = 0.0
    scripts: float = 0.0
    longest: float = 0.0
    drawing: float = 0.0
    """Seconds by the clock that the main thread waited for pictures of the renderer in software."""

    @property
    def share(self) -> float:
        """The part of one processor that the main thread took."""
        return self.all / self.elapsed

    def __str__(self) -> str:
        return (
            f"the main thread worked {self.share:.0%} of the time, "
            f"scripts {self.scripts / self.elapsed:.0%}, "
            f"its longest task {self.longest * 1000:.0f} ms of processor time"
        )


@contextmanager
def own_work(page: Page) -> Iterator[Work]:
    """Measure what a page works within the block; the figures are there after it."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    browser = page.context.browser
    assert browser is not None
    traced = browser.new_browser_cdp_session()
    trace: list[dict[str, Any]] = []
    complete: list[Any] = []
    traced.on("Tracing.dataCollected", lambda told: trace.extend(told["value"]))
    traced.on("Tracing.tracingComplete", lambda told: complete.append(told))
    categories = {"includedCategories": ["toplevel", "gpu", "__metadata"]}
    traced.send("Tracing.start", {"traceConfig": categories})
    work, before, begin = Work(), _metrics(session), time.monotonic()
    yield work
    after, work.elapsed = _metrics(session), time.monotonic() - begin
    traced.send("Tracing.end")
    while not complete:
        assert time.monotonic() < begin + work.elapsed + _TRACE_PATIENCE, "the trace does not end"
        page.wait_for_timeout(50)
    work.all = after["TaskDuration"] - before["TaskDuration"]
    work.scripts = after["ScriptDuration"] - before["ScriptDuration"]
    mine = _of_pages(trace)
    work.longest = max(one.get("tdur", 0) / 1e6 for one in mine if one["name"].endswith("RunTask"))
    work.drawing = sum(one["dur"] / 1e6 for one in mine if one["name"] in _WAITING)


def _metrics(session: CDPSession) -> dict[str, float]:
    found = session.send("Performance.getMetrics")["metrics"]
    return {one["name"]: one["value"] for one in found}


def _of_pages(trace: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the main threads of pages did."""
    pages = {
        (one["pid"], one["tid"])
        for one in trace
        if one["name"] == "thread_name" and one["args"]["name"] == "CrRendererMain"
    }
    return [one for one in trace if "dur" in one and (one["pid"], one["tid"]) in pages]


@contextmanager
def pauses(page: Page) -> Iterator[list[float]]:
    """Watch how long the page does not come to run, in milliseconds; sorted after the block."""
    found: list[float] = []
    page.evaluate(_WATCH)
    yield found
    found.extend(sorted(page.evaluate("window.gaps")))
