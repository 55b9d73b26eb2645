"""A file that is no policy is an error that says where, and quickly."""

from __future__ import annotations

import pytest

from tests.policy.support import (
    Write,
    error_of,
)


class TestMalformedYaml:
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            pytest.param(
                "mode: warn\nlimits:\n\tpassages: 3\n", "indent with spaces, not tabs (policy.yaml line 3)", id="tabs"
            ),
            pytest.param("messages: {refusal: 'abc\n", "not valid YAML: found unexpected end", id="an open quote"),
            pytest.param("limits: {passages: 3\nmode: warn", "not valid YAML: ", id="an open bracket"),
            pytest.param("mode: warn: enforce", "not valid YAML: mapping values are not allowed", id="two colons"),
            pytest.param(
                "limits:\n  passages: 3\n  passages: 4\n",
                "duplicate key limits.passages, first on line 2 (policy.yaml line 3)",
                id="a duplicate key",
            ),
            pytest.param("- mode\n", "a policy is a mapping of keys to values, got ['mode']", id="a list"),
            pytest.param("monitor\n", "a policy is a mapping of keys to values, got 'monitor'", id="a word"),
            pytest.param(
                "mode: warn\n---\nmode: warn\n", "a second one begins (policy.yaml line 2)", id="two documents"
            ),
            pytest.param("mode: !!python/name:os.system x", "tags such as", id="a tag that names code"),
            pytest.param(
                "limits: {passages: !!int '3'}", "tags such as 'tag:yaml.org,2002:int'", id="a tag that names a type"
            ),
            pytest.param("a: &a {mode: warn}\n<<: *a\n", "merge keys (<<) are not supported", id="a merge key"),
            pytest.param("mode: *nowhere", "the alias *nowhere has no anchor before it", id="an alias of nothing"),
            pytest.param(
                "limits: &a\n  passages: *a\n", "the alias *a has no anchor before it", id="an alias of itself"
            ),
            pytest.param("? [a, b]\n: c\n", "a key must be plain text (policy.yaml line 1)", id="a list for a key"),
            pytest.param("mode: warn\n\0", "characters are not allowed (policy.yaml line 2)", id="NUL"),
            pytest.param(
                b"mode: warn\n\xff", "not UTF-8 text: invalid start byte (policy.yaml line 2)", id="not UTF-8"
            ),
            pytest.param("mode: warn".encode("utf-16"), "not UTF-8 text", id="UTF-16"),
            pytest.param(b"mode: '\xed\xa0\x80'", "not UTF-8 text", id="half a character"),
            pytest.param("# " + "x" * 300_000, "is larger than 256 KiB", id="a huge file"),
            pytest.param(
                "limits: {passages: 010}", "limits.passages must be a whole number of at least 1, got '010'", id="octal"
            ),
            pytest.param(
                "limits: {passages: 2024-13-45}", "limits.passages must be a whole number", id="an impossible date"
            ),
            pytest.param(
                "mode: on", "mode must be one of monitor, warn, enforce, got True", id="a word YAML reads as true"
            ),
        ],
    )
    def test_it_is_an_error_that_says_where(self, write: Write, content: str | bytes, message: str) -> None:
        assert message in error_of(write(content))

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            pytest.param("[" * 250_000, "nested deeper than 12 levels", id="brackets in brackets"),
            pytest.param("{a: " * 60_000, "nested deeper than 12 levels", id="mappings in mappings"),
            pytest.param("- " * 120_000, "nested deeper than 12 levels", id="lists in lists"),
            pytest.param("? " * 120_000, "a key must be plain text", id="keys in keys"),
            pytest.param("".join(" " * n + "a:\n" for n in range(600)), "nested deeper than 12", id="a staircase"),
            pytest.param(
                "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60)),
                "more than 5000 values, aliases written out",
                id="aliases of aliases",
            ),
            pytest.param("a: " + "1:" * 120_000 + "1", "unknown key a", id="a number to the base of sixty"),
            pytest.param(
                "limits: {passages: " + "9" * 200_000 + "}", "limits.passages must be", id="a very long number"
            ),
            pytest.param("".join(f"k{n}: {n}\n" for n in range(20_000)), "more than 5000 values", id="many keys"),
            pytest.param('a: "' + "\\" * 200_000, "not valid YAML", id="many escapes"),
        ],
    )
    def test_a_bomb_is_refused(self, write: Write, content: str, message: str) -> None:
        assert message in error_of(write(content))
