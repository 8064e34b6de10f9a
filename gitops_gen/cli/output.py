"""Text in, the same text on a stream out, whatever the stream can take and whether or not it is read."""

from __future__ import annotations

import codecs
import json
import os
import sys
from typing import TextIO

import typer

_ESCAPE = "gitops-gen-escape"


def say(text: str, *, err: bool = False, color: bool = False) -> None:
    """Print a result, or with `err` talk; a reader that has gone away (`| head -1`) is no fault."""
    try:
        typer.echo(text, err=err, nl=not text.endswith("\n"), color=color or None)
    except BrokenPipeError:
        _silence(sys.stderr if err else sys.stdout)


def takes_color(stream: TextIO | None) -> bool:
    """Tell whether colours help the reader: https://no-color.org, and no dumb terminal."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and stream is not None and stream.isatty()


def take_any_text() -> None:
    """Let stdout and stderr write what their encoding lacks as JSON does: `\\u00e9`."""
    codecs.register_error(_ESCAPE, _escaped)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=_ESCAPE)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def _silence(stream: TextIO) -> None:
    """Let what is still buffered, and all that follows, go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
