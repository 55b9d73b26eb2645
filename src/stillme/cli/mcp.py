"""`stillme mcp`: the guard as a tool for agents, over standard input and output or over HTTP."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import click

from stillme.cli.ingest import knowledge_store
from stillme.cli.options import KEY, MODE, POLICY, STORE_VARIABLE, chosen_policy, recording
from stillme.errors import BackendError

if TYPE_CHECKING:
    from stillme.chat.retrieval import Retriever

__all__ = ["mcp"]


@click.command(short_help="Serve verification to agents (MCP).")
@click.option(
    "--transport",
    type=click.Choice(["stdio", "streamable-http"]),
    default="stdio",
    show_default=True,
    help="Standard input and output, as clients start it; or HTTP on loopback, at /mcp.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=8001, show_default=True, help="With streamable-http.")
@POLICY
@MODE
@click.option(
    "--store",
    metavar="PATH|URL",
    envvar=STORE_VARIABLE,
    show_envvar=True,
    help="Record each verdict in this audit store; the tool explain reads there.",
)
@KEY
@click.option("--knowledge", metavar="PATH|URL", help="The knowledge store that the tool search looks in.")
def mcp(transport: str, port: int, key: str | None, **how: Any) -> None:
    """Serve the tools verify, precheck, search (with --knowledge) and explain (with --store) by the Model Context Protocol.

    Over HTTP it listens on 127.0.0.1 only, and takes requests only from pages of this machine.
    """
    try:
        from stillme.adapters.mcp import server
    except ModuleNotFoundError as error:
        raise BackendError(f"the MCP server needs {error.name}: pip install 'stillme[mcp]'") from None
    from stillme.guard import Guard, grounder_for
    from stillme.judge import judge_from_environment
    from stillme.policy import Policy

    loaded = Policy.load(chosen_policy(how["policy"]))
    loaded.build()
    policy = loaded.with_changes({"mode": how["mode"]}) if how["mode"] else loaded
    with ExitStack() as stack:
        audit = stack.enter_context(recording(how["store"], key))
        guard = Guard(policy, grounder=judge_from_environment(grounder_for(policy)), audit=audit)
        made = server(guard, audit=audit, retriever=_retriever(how["knowledge"], stack))
        if transport == "stdio":
            made.run("stdio")
        else:
            click.echo(f"MCP on http://127.0.0.1:{port}/mcp, mode {policy.mode}", err=True)
            made.run("streamable-http", host="127.0.0.1", port=port)


def _retriever(knowledge: str | None, stack: ExitStack) -> Retriever | None:
    if not knowledge:
        return None
    from stillme.chat.retrieval import Retriever

    return Retriever(stack.enter_context(closing(knowledge_store(knowledge))))
