"""The commands: they read requests, ask the guard, print, and tell the decision by their exit code.

What a command needs is imported when it runs, so that `--help` and `--version` are instant.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NoReturn

import click

from stillme.cli.audit.group import audit
from stillme.cli.chat import chat
from stillme.cli.evaluation.calibrate import calibrate, drift
from stillme.cli.evaluation.case_study import report
from stillme.cli.evaluation.eval import evaluate
from stillme.cli.evaluation.policy_diff import diff
from stillme.cli.evaluation.rollout import rollout
from stillme.cli.ingest import ingest
from stillme.cli.options import JSON, KEY, MODE, POLICY, STORE_VARIABLE, chosen_policy, recording, user_name
from stillme.cli.printing import Exit, complain, draw, print_json, print_text
from stillme.cli.search import search
from stillme.cli.serve import keys, serve
from stillme.cli.verdict_text import VerdictPrinter
from stillme.errors import InputError, PolicyError, StillMeError, shown
from stillme.languages import DEFAULT, languages
from stillme.version import __version__

if TYPE_CHECKING:
    from stillme.policy import Policy

__all__ = ["cli"]


class Commands(click.Group):
    """Commands whose failures are a line on stderr and an exit code, never a traceback."""

    def invoke(self, ctx: click.Context) -> None:
        """Run the command and turn what it raises into an exit code."""
        try:
            super().invoke(ctx)
        except InputError as error:
            _end(ctx, str(error), Exit.INPUT)
        except PolicyError as error:
            _end(ctx, str(error), Exit.POLICY)
        except StillMeError as error:
            _end(ctx, str(error), Exit.NOT_VERIFIED)
        except KeyboardInterrupt:
            ctx.exit(Exit.INTERRUPTED)
        except BrokenPipeError:
            # Whoever read us is gone: what is still buffered must not fail again when the interpreter ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(Exit.PIPE_CLOSED)
        except OSError as error:
            what = "the output cannot be written" if error.filename is None else shown(error.filename)
            _end(ctx, f"{what}: {error.strerror or error}", Exit.OTHER)


def _end(ctx: click.Context, problem: str, code: Exit) -> NoReturn:
    complain(problem)
    ctx.exit(code)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="stillme %(version)s")
def cli() -> None:
    """Verify a model's draft answer against the passages it may stand on: answer, refuse or ask back."""


cli.add_command(audit)
for command in (serve, keys, ingest, search, chat, evaluate, report, calibrate, drift, rollout):
    cli.add_command(command)

RECORD_HELP = "Record each verdict in this audit store (a file, or postgresql://…), which is made if it is not there."
FORM_HELP = "One JSON verdict a line, or a page each. Without either: pages on a terminal, else JSON."


@cli.command(short_help="Verify the requests in a file.")
@click.argument("file", metavar="FILE|-")
@POLICY
@MODE
@click.option("--json/--human", "as_json", default=None, help=FORM_HELP)
@click.option("--all-findings", is_flag=True, help="Pages also show what passed and what was skipped.")
@click.option("--store", metavar="PATH|URL", envvar=STORE_VARIABLE, show_envvar=True, help=RECORD_HELP)
@KEY
@click.option("--caller", metavar="NAME", help="Who asks, in the records. Without: cli: and the user's name.")
@click.option("-q", "--quiet", is_flag=True, help="Prints problems only: the exit code tells the decision.")
@click.pass_context
def verify(
    ctx: click.Context,
    /,
    file: str,
    policy: str | None,
    mode: str | None,
    store: str | None,
    key: str | None,
    caller: str | None,
    **output: Any,
) -> None:
    """Verify the requests in FILE (- is standard input): a JSON object, a list of them, or one a line.

    A request that cannot be read is reported with its place; the others are verified all the same.

    \b
    The exit code is the first of these that holds:
       3  a request, or the file, cannot be read
       4  the policy cannot be used
       5  a verdict is not verified: a hard gate did not run to its end, or nothing was checked
      10  a verdict says refuse
      11  a verdict says ask_clarify
       0  every verdict says answer
    """
    from stillme.cli.request_file import read_requests, size_of, verify_all
    from stillme.guard import Guard, grounder_for
    from stillme.judge import judge_from_environment

    entries = read_requests(file)
    first = next(entries)  # what is wrong with the file as a whole is said before the policy is read
    loaded = _policy(chosen_policy(policy))
    with recording(store, key) as audit:
        chosen = loaded.with_changes({"mode": mode}) if mode else loaded
        guard = Guard(chosen, grounder=judge_from_environment(grounder_for(chosen)), audit=audit)
        results = verify_all(guard, chain([first], entries), caller or user_name())
        ctx.exit(VerdictPrinter(**output).follow(results, size_of(file)))


@cli.group("policy", short_help="Check or show a policy, print its schema.")
def policy_group() -> None:
    """Check a policy file, show what is in force, print the schema."""


@policy_group.command("check", short_help="Say whether a policy file can be used.")
@click.argument("file")
def policy_check(file: str) -> None:
    """Say whether the policy FILE can be used, or what is wrong in which line (exit code 4)."""
    policy = _policy(file)
    click.echo(f"ok: preset {policy.extends}, mode {policy.mode}, sha256 {policy.hash}")


@policy_group.command("show", short_help="Print a policy with every value written out.")
@click.argument("source", metavar="[FILE|PRESET]", envvar="STILLME_POLICY", required=False)
def policy_show(source: str | None) -> None:
    """Print a policy with every value written out, as a file that loads to the same policy.

    Without FILE or PRESET: the one that the environment variable STILLME_POLICY names, else policy.yaml of this folder, else lite.
    """
    print_text(_policy(chosen_policy(source)).to_yaml().rstrip())


@policy_group.command("schema", short_help="Print the JSON Schema of a policy file.")
def policy_schema() -> None:
    """Print the JSON Schema of a policy file, for editors and other tools."""
    from stillme.policy import policy_schema

    print_json(policy_schema(), indent=2)


policy_group.add_command(diff)


@cli.command(short_help="List the validators.")
@JSON
def validators(as_json: bool) -> None:
    """List the validators in the order they run: what each flags, with which gate, and what can be set."""
    from stillme.catalogue import validator_rows
    from stillme.cli.listing import validators_table

    rows = validator_rows()
    print_json(rows, indent=2) if as_json else draw(partial(validators_table, rows))


@cli.command(short_help="List the reason codes.")
@click.option(
    "--language",
    type=click.Choice([each.code for each in languages()]),
    default=DEFAULT,
    show_default=True,
    help="Of the words.",
)
@JSON
def reasons(language: str, as_json: bool) -> None:
    """List the reason codes: default gate, what a hard finding asks for, and the code in words."""
    from stillme.catalogue import reason_rows
    from stillme.cli.listing import reasons_table

    rows = reason_rows(language)
    print_json(rows, indent=2) if as_json else draw(partial(reasons_table, rows))


def _policy(source: str | None) -> Policy:
    from stillme.policy import Policy

    policy = Policy.load(source)
    policy.build()
    return policy
