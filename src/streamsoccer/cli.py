"""The command line: each command is a few lines that call the library."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from streamsoccer import __version__
from streamsoccer.errors import StreamSoccerError

__all__ = ["app", "main"]

app = typer.Typer(name="streamsoccer", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
data_app = typer.Typer(no_args_is_help=True, help="From annotations to causal three-track data.")
evaluate_app = typer.Typer(no_args_is_help=True, help="Scores, each with its scorer, convention, N and coverage.")
app.add_typer(data_app, name="data")
app.add_typer(evaluate_app, name="evaluate")


def _version(show: bool) -> None:
    if show:
        typer.echo(f"streamsoccer {__version__}")
        raise typer.Exit


_ShowVersion = Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")]


@app.callback()
def _root(version: _ShowVersion = False) -> None:
    """Live soccer commentary by a machine that remembers the match."""


# --- video -----------------------------------------------------------------------------------------------------------

# --- data ------------------------------------------------------------------------------------------------------------

# --- evaluation ------------------------------------------------------------------------------------------------------


def main(argv: list[str] | None = None) -> Any:
    """Run a command; an error meant for people is printed without a traceback and ends with exit code 2."""
    try:
        return app(argv)
    except StreamSoccerError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        sys.exit(130)


if __name__ == "__main__":
    main()
