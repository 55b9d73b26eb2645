"""`stillme keys` and `stillme serve`: what they print, what they refuse, and what they need."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from click.testing import CliRunner, Result

from stillme.cli.commands import cli
from stillme.service.auth import Keys


def run(*arguments: str, **environment: str) -> Result:
    """What the command does."""
    return CliRunner().invoke(cli, arguments, env=environment, catch_exceptions=False)


def test_a_key_is_made_listed_and_revoked(tmp_path: Path) -> None:
    """Printed once, in a line of its own, so that a script can take it."""
    where = {"STILLME_DATA": str(tmp_path)}

    made = run("keys", "create", "support-bot", "--scope", "verify", "--scope", "chat", **where)
    listed = run("keys", "list", **where)
    revoked = run("keys", "revoke", "support-bot", **where)

    key = made.stdout.strip()
    assert (made.exit_code, listed.exit_code, revoked.exit_code) == (0, 0, 0)
    assert key.startswith("sm_")
    assert listed.stdout.split()[:3] == [key.split("_")[1], "support-bot", "verify,chat"]
    assert key.split("_")[2] not in listed.output
    assert Keys(tmp_path / "keys.json").find(key) is None


def test_a_key_may_have_an_end(tmp_path: Path) -> None:
    """A day, or a number of days from now; an end that is over is an error."""
    where = {"STILLME_DATA": str(tmp_path)}
    later = (datetime.now(UTC) + timedelta(days=400)).date().isoformat()

    made = [
        run("keys", "create", name, "--scope", "verify", "--expires", end, **where)
        for name, end in (("day", later), ("days", "90d"), ("past", "2020-01-31"), ("none", "soon"))
    ]

    listed = run("keys", "list", **where).stdout
    assert [each.exit_code for each in made] == [0, 0, 3, 3]
    assert f"expires {later}T00:00:00+00:00" in listed
    assert listed.count("expires") == 2
    assert "has to expire later than now, got 2020-01-31" in made[2].stderr
    assert "'soon' is no point in time" in made[3].stderr


def test_a_bad_scope_is_told_with_the_choices(tmp_path: Path) -> None:
    """Exit code 3, as for every bad input."""
    found = run("keys", "create", "x", "--scope", "everything", STILLME_DATA=str(tmp_path))

    assert found.exit_code == 3
    assert "a scope is one of verify, chat, viewer, reviewer, operator, admin, got 'everything'" in found.stderr


def test_names_are_shown_without_control_characters(tmp_path: Path) -> None:
    """A name with an escape sequence is refused before it is kept."""
    found = run("keys", "create", "a\x1b[31m", "--scope", "verify", STILLME_DATA=str(tmp_path))

    assert found.exit_code == 3
    assert "\x1b" not in found.output


def test_without_the_extra_the_service_says_what_to_install(tmp_path: Path) -> None:
    """In one line, with the command."""
    blocked = (
        "import sys; sys.modules['fastapi'] = None; sys.argv[1:] = ['serve']; from stillme.cli import main; main()"
    )

    done = subprocess.run([sys.executable, "-c", blocked], capture_output=True, text=True, cwd=tmp_path, check=False)

    assert "pip install 'stillme[service]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode != 0
