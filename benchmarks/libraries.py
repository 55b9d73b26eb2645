"""Libraries that could replace code of ours: what importing and installing them costs, and what they make of hostile input.

    pip install httpx-sse stamina pydantic-settings watchfiles google-re2 selectolax
    python -m benchmarks.libraries

Nothing of the package needs them; docs/decisions/0019-libraries-weighed.md has what this prints.
"""

from __future__ import annotations

import asyncio
import importlib
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import files
from multiprocessing import Pipe, Process
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from stillme.chat.documents.html_text import html_extract
from stillme.errors import PolicyError
from stillme.llm.wire import events
from stillme.redaction.patterns import checked_pattern

BEST_OF = 7
LONGEST_S = 10
IMPORTS = [
    ("httpx-sse", "httpx_sse", "httpx"),
    ("stamina", "stamina", "asyncio"),
    ("pydantic-settings", "pydantic_settings", "pydantic"),
    ("watchfiles", "watchfiles", "threading"),
    ("google-re2", "re2", "re"),
    ("selectolax", "selectolax.lexbor", "html"),
]
STREAMS = {
    "a byte order mark": [b"\xef\xbb\xbfdata: a\n\n"],
    "bytes that are no UTF-8": [b"data: \xff\xfe\n\n"],
    "a line of 30 MB": [b"data: " + b"x" * 1_000_000] * 30,
    "an event of 30 MB": [b"data: " + b"x" * 999_990 + b"\n"] * 30 + [b"\n"],
}
PATTERNS = {
    "a word in Vietnamese": (r"Mã \w{4,8}", "Mã đặcbiệt"),
    "a look ahead": (r"KH(?!0)\d{4}", "KH1234"),
    "a possessive repetition": (r"HD-\d{4,8}+", "HD-12345"),
    "an atomic group": (r"(?>NV|NVX)\d{3}", "NV123"),
    "nested repetitions": (r"(a+)+b", "a" * 30),
    "a bounded one of 1000": (r"(?:x{1,1000}){1,1000}y", "x" * 1000),
}
PAGES = {
    "20,000 nested elements": "<div>" * 20_000 + "text",
    "60,000 nested elements": "<div>" * 60_000 + "text",
    "an attribute of 5 MB": f'<p title="{"x" * 5_000_000}">text</p>',
    "20,000 attributes": f"<p {' '.join(f'a{n}=1' for n in range(20_000))}>text</p>",
    "60,000 attributes": f"<p {' '.join(f'a{n}=1' for n in range(60_000))}>text</p>",
    "references that are broken": "<p>&#xffffffffff; &#" + "9" * 100_000 + "; &nosuch; text</p>",
    "a comment without end": "<p>before</p><!-- <p>after</p>",
    "a tag without end": '<p>before</p><p title="<p>after</p>',
    "a script without end": "<p>before</p><script>var a = '<p>after</p>'",
}
SMALLEST: dict[str, Any] = {
    "our_events": [b"data: a\n\n"],
    "their_events": [b"data: a\n\n"],
    **dict.fromkeys(("our_pattern", "their_pattern"), ("a", "a")),
    **dict.fromkeys(("our_page", "their_page"), "<p>a</p>"),
}


def main() -> None:
    """Print every table."""
    print("| package | import, ms over what it builds on | installed, kB |\n|---|---|---|")
    for package, module, base in IMPORTS:
        cost_ms = cpu_ms(f"import {base}, {module}") - cpu_ms(f"import {base}")
        print(f"| {package} | {cost_ms:.0f} | {size_kb(package)} |")
    table("server-sent events", STREAMS, our_events, their_events)
    table("patterns of operators", PATTERNS, our_pattern, their_pattern)
    table("pages", PAGES, our_page, their_page)


def table(name: str, inputs: dict[str, Any], ours: Callable[[Any], str], theirs: Callable[[Any], str]) -> None:
    """What each makes of each input, how long it takes and the most memory that it takes."""
    print(f"\n| {name} | ours | the library |\n|---|---|---|")
    for label, given in inputs.items():
        print(f"| {label} | {measured(ours, given)} | {measured(theirs, given)} |")


def measured(read: Callable[[Any], str], given: Any) -> str:
    """The result or the error, with seconds and megabytes, from a process that is ended when it has used up its time."""
    receiving, sending = Pipe(duplex=False)
    process = Process(target=_measure, args=(sending, read, given))
    process.start()
    sending.close()
    try:
        return str(receiving.recv())
    except EOFError:
        return f"ended after {LONGEST_S} s"
    finally:
        process.join()


def _measure(sending: Connection, read: Callable[[Any], str], given: Any) -> None:
    read(SMALLEST[read.__name__])  # what is imported for it does not count
    began, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    resource.setrlimit(resource.RLIMIT_CPU, (int(began) + LONGEST_S, resource.RLIM_INFINITY))
    try:
        result = read(given)
    except Exception as error:
        result = f"{type(error).__name__}: {error}"
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000
    sending.send(f"{result[:90]!r}, {time.process_time() - began:.2f} s, {grown_mb:.0f} MB")


def cpu_ms(code: str) -> float:
    """Processor time of a Python that runs this, the best of some."""

    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return 1000 * min(once() for _ in range(BEST_OF))


def size_kb(package: str) -> int:
    """What the files of an installed package take, without what it depends on."""
    paths = [Path(str(file.locate())) for file in files(package) or () if "__pycache__" not in str(file)]
    return sum(path.stat().st_size for path in paths if path.exists()) // 1000


def our_events(pieces: list[bytes]) -> str:
    """The first event."""

    async def body() -> Any:
        for piece in pieces:
            yield piece

    async def first() -> str:
        async for _, data in events(body()):
            return data
        return "no event"

    return asyncio.run(first())


def their_events(pieces: list[bytes]) -> str:
    """The same by httpx-sse."""
    httpx, sse = importlib.import_module("httpx"), importlib.import_module("httpx_sse")

    async def body() -> Any:
        for piece in pieces:
            yield piece

    async def first() -> str:
        response = httpx.Response(200, headers={"content-type": "text/event-stream"}, content=body())
        async for event in sse.EventSource(response).aiter_sse():
            return str(event.data)
        return "no event"

    return asyncio.run(first())


def our_pattern(given: tuple[str, str]) -> str:
    """What a pattern finds; one that could stall is refused when the policy is read."""
    try:
        pattern, _ = checked_pattern("code", given[0])
    except PolicyError as error:
        return f"refused: {error}"
    return str(pattern.search(given[1]))


def their_pattern(given: tuple[str, str]) -> str:
    """The same by RE2."""
    return str(importlib.import_module("re2").search(*given))


def our_page(page: str) -> str:
    """The text of a page."""
    return html_extract(page).text


def their_page(page: str) -> str:
    """The same by selectolax, as its documentation does it."""
    body = importlib.import_module("selectolax.lexbor").LexborHTMLParser(page).body
    return re.sub(r"\s++", " ", body.text(separator=" ")) if body is not None else ""


if __name__ == "__main__":
    main()
