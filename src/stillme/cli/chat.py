"""`stillme chat`: questions in a terminal, answered from the knowledge store by the pipeline that the service runs.

What a document or a model wrote is untrusted: it passes through `visible` and is never read as markup.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click

from stillme.cli.ingest import KNOWLEDGE
from stillme.cli.options import KEY, STORE_VARIABLE, chosen_policy, extra_needed, recording, user_name
from stillme.cli.printing import Exit, complain, is_terminal
from stillme.cli.verdict_text import exit_code
from stillme.errors import InputError, StillMeError, shown
from stillme.languages import languages, load

if TYPE_CHECKING:
    from rich.console import Console

    from stillme.audit import AuditStore
    from stillme.chat.pipeline import ChatOutcome, ChatPipeline, ChatRequest
    from stillme.chat.settings import ChatSettings
    from stillme.contract import Turn

__all__ = ["chat"]

LANGUAGES: Final = ("auto", *(each.code for each in languages()))
PROMPT: Final = "> "
MOST_TURNS: Final = 20
UNVALIDATED = "note: answers are not validated; --validators, or ENABLE_VALIDATORS=true, turns the validators on"
POLICY_HELP = "What the validators judge by: a YAML file, or lite, book, strict. It switches them on. [STILLME_POLICY]"
VALIDATORS_HELP = "Whether answers go through the validators. [ENABLE_VALIDATORS, else off]"
STYLE_HELP = "The tone of answers. [STILLME_TONE_STYLE, else neutral]"
SESSION_HELP = "Names a session: what is answered in it is found again for its later questions, in later runs too."
PROVIDER_HELP = "Which model provider answers: extractive, deepseek, openai, gemini or local. [STILLME_PROVIDER]"
AUDIT_HELP = "Record each verdict in this audit store (a file, or postgresql://…), which is made if it is not there."


@click.command(short_help="Ask questions in the terminal.")
@click.argument("question", required=False)
@KNOWLEDGE
@click.option("--provider", metavar="NAME", help=PROVIDER_HELP)
@click.option("--model", metavar="NAME", help="Which of the provider's models.")
@click.option("--validators/--no-validators", "validates", default=None, help=VALIDATORS_HELP)
@click.option("--policy", metavar="FILE|PRESET", help=POLICY_HELP)
@click.option("--style", "tone_style", type=click.Choice(["neutral", "friendly", "scholarly"]), help=STYLE_HELP)
@click.option("--language", type=click.Choice(LANGUAGES), default="auto", help="Of the answers. [auto]")
@click.option("--session", "session_id", metavar="ID", help=SESSION_HELP)
@click.option("--audit", metavar="PATH|URL", envvar=STORE_VARIABLE, show_envvar=True, help=AUDIT_HELP)
@KEY
@click.pass_context
def chat(
    ctx: click.Context,
    /,
    question: str | None,
    audit: str | None,
    key: str | None,
    store: str | None,
    validates: bool | None,
    policy: str | None,
    **asked: Any,
) -> None:
    """Answer QUESTION from the knowledge store and exit; without it, hold a conversation until exit or Ctrl-D.

    Questions that are piped in stand one on a line, and are one conversation. Below an answer stand the sources that it cites and,
    where the validators are on, what they decided.

    \b
    The exit code is the first of these that holds; an interactive chat ends with 0:
       3  a question cannot be asked
       4  the policy cannot be used
       5  an answer is not verified although it should be, or a model gave none
      10  the validators said refuse
      11  the validators said ask_clarify
       0  every question was answered
    """
    settings = _settings(store, policy, validates)
    if not settings.validate:
        click.echo(UNVALIDATED, err=True)
    else:
        chosen_policy(settings.policy)
    with recording(audit, key) as recorder, _talk(settings, recorder, asked) as talk:
        if question is not None:
            talk.ask(question)
        elif is_terminal(sys.stdin):
            talk.hold()
            ctx.exit(Exit.ANSWER)
        else:
            talk.answer_lines()
        ctx.exit(talk.code)


def _settings(store: str | None, policy: str | None, validates: bool | None) -> ChatSettings:
    """The settings of the environment, with what the command line says in their place."""
    with extra_needed("the chat", "chat"):
        from stillme.chat.settings import ChatSettings
    settings = ChatSettings.from_environment(os.environ)
    if validates is None:
        validates = settings.validate or policy is not None
    return replace(
        settings, validate=validates, policy=policy or settings.policy, knowledge=store or settings.knowledge
    )


@contextmanager
def _talk(settings: ChatSettings, audit: AuditStore | None, asked: dict[str, Any]) -> Iterator[_Talk]:
    """A talk on one event loop; the connections and the store are closed behind it."""
    import asyncio

    from stillme.cli.terminal import console

    with extra_needed("the chat", "chat"):
        from stillme.chat.pipeline import pipeline_from

        pipeline = pipeline_from(settings, os.environ, audit=audit)
    with asyncio.Runner() as runner:
        try:
            yield _Talk(pipeline, runner.run, console(), asked)
        finally:
            runner.run(pipeline.aclose())


@dataclass(slots=True)
class _Talk:
    """A conversation with the pipeline: what was said, and the exit code that all of it makes."""

    pipeline: ChatPipeline
    run: Callable[..., Any]
    out: Console
    asked: dict[str, Any]
    turns: list[Turn] = field(default_factory=list)
    codes: set[Exit] = field(default_factory=set)

    @property
    def code(self) -> Exit:
        """The first exit code, in their order, that something gave cause for."""
        return next((code for code in Exit if code in self.codes), Exit.ANSWER)

    def ask(self, question: str) -> None:
        """Answer one question, which may fail."""
        request = _request(message=question, conversation=tuple(self.turns[-MOST_TURNS:]), **self.asked)
        outcome: ChatOutcome = self.run(self.pipeline.answer(request, caller=user_name()))
        self._show(outcome)
        self._remember(question, outcome)
        self.codes.add(exit_code(outcome.occurrence.verdict) if outcome.occurrence else Exit.ANSWER)

    def hold(self) -> None:
        """Ask for questions until there are no more; a question that fails is told, and the next one asked for."""
        with suppress(ImportError):  # where there is one, lines can be edited and called up again
            import_module("readline")
        self._say("Ask something. exit, or Ctrl-D, ends the chat.", "dim")
        while (question := self._next_question()) is not None:
            if question:
                self._try(question)

    def answer_lines(self) -> None:
        """Answer each line of standard input."""
        for question in _lines():
            if question.lower() in load("prompt")["ends"]:
                return
            if question:
                self._say(f"{PROMPT}{question}", "bold")
                self._try(question)

    def _try(self, question: str) -> None:
        try:
            self.ask(question)
        except InputError as error:
            complain(str(error))
            self.codes.add(Exit.INPUT)
        except StillMeError as error:
            complain(str(error))
            self.codes.add(Exit.NOT_VERIFIED)

    def _next_question(self) -> str | None:
        try:
            question = input(PROMPT).strip()
        except EOFError:
            self.out.print()
            return None
        except UnicodeDecodeError:
            complain("the question is not text in the encoding of this terminal")
            return ""
        return None if question.lower() in load("prompt")["ends"] else question

    def _show(self, outcome: ChatOutcome) -> None:
        self._say(outcome.response.rstrip())
        for line in _cited(outcome):
            self._say(line, "dim")
        about = _decided(outcome)
        if about:
            self._say(about, "dim italic")
        self.out.print()

    def _say(self, text: str, style: str = "") -> None:
        from rich.text import Text

        from stillme.cli.terminal import visible

        # Only a terminal has a width: elsewhere a line stays a line.
        self.out.print(Text(visible(text, self.out.encoding), style=style), soft_wrap=not self.out.is_terminal)

    def _remember(self, question: str, outcome: ChatOutcome) -> None:
        from stillme.contract import Turn

        self.turns += [Turn(role="user", content=question), Turn(role="assistant", content=outcome.response)]


def _lines() -> Iterator[str]:
    """The lines of standard input, without the space around them."""
    try:
        for line in sys.stdin:
            yield line.strip()
    except UnicodeDecodeError:
        raise InputError("standard input is not UTF-8 text: send questions as UTF-8, one on a line") from None


def _request(**values: Any) -> ChatRequest:
    from pydantic import ValidationError

    from stillme.chat.pipeline import ChatRequest

    if not values["message"].strip():
        raise InputError(f"the question is blank ({shown(values['message'])}): ask something")
    try:
        return ChatRequest(**values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        names = {"message": "the question", "session_id": "--session", "provider": "--provider", "model": "--model"}
        name = str(first["loc"][0]) if first["loc"] else "message"
        raise InputError(f"{names.get(name, name)}: {first['msg']}, got {shown(first.get('input'))}") from None


def _cited(outcome: ChatOutcome) -> Iterator[str]:
    """A line for each source that the answer cites."""
    from stillme.evidence import Evidence

    if outcome.refused:
        return
    evidence = Evidence.of(draft=outcome.response, passages=outcome.context.passages)
    for index in sorted({i for marker in evidence.markers for i in marker.passages}):
        passage = evidence.passages[index]
        given = passage.given
        about = " ".join(", ".join(part for part in (given.title, given.url, given.source_id) if part).split())
        yield f"[{passage.number}] {about}"


def _decided(outcome: ChatOutcome) -> str:
    """What the validators made of the answer, as far as the policy lets it be seen."""
    from stillme.guard import shown as seen

    if outcome.occurrence is None:
        return ""
    verdict = seen(outcome.occurrence)
    checked = "verified" if verdict.verified else "NOT VERIFIED"
    reasons = f": {', '.join(verdict.reasons)}" if verdict.reasons else ""
    return f"{verdict.decision.value} ({verdict.action}), confidence {verdict.confidence_band}, {checked}{reasons}"
