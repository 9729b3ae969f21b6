"""What can go wrong with input and output, said without a traceback."""

from __future__ import annotations

import os
import select
import sys
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from ..dissectors._core import CaptureError, FilterError
from ..dissectors.tshark import TsharkError
from ..reports.unseen import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BAD_INPUT = 2
"""Exit code for input that cannot be read."""

DAMAGED_INPUT = 1
"""Exit code of --strict for input that could be read in part."""


FAILED_VERDICT = 3
"""Exit code of --fail-on-verdict for numbers that do not keep their limits: not a damaged file's,
so that a script can tell what is measured from what can be."""


class Failure(click.ClickException):
    """Work that was begun and went wrong: the message alone, exit code 1."""

    def __init__(self, message: str) -> None:
        super().__init__(plain(message))  # it may have names of captures and files in it


class Refusal(Failure):
    """Input that cannot be used: the message alone, exit code 2."""

    exit_code = BAD_INPUT


def need(extra: str, *packages: str) -> None:
    """Refuse when a package is not installed that an extra of pathscope brings."""
    for package in packages:
        if find_spec(package) is None:
            raise Refusal(f"{package} is not installed: pip install 'pathscope[{extra}]'")


@contextmanager
def refusals() -> Iterator[None]:
    """Turn what can go wrong with input and output into a message without a traceback."""
    try:
        yield
    except (CaptureError, FilterError, TsharkError, ValueError) as error:
        raise Refusal(str(error)) from error
    except OSError as error:
        raise _refusal(error) from error


def _refusal(error: OSError) -> Exception:
    if isinstance(error, BrokenPipeError) and _has_reader_left():
        return error  # whoever read our output has seen enough: click ends quietly
    name = "" if error.filename is None else f"{error.filename}: "
    return Refusal(f"{name}{error.strerror or error}")


def _has_reader_left() -> bool:
    """Whether the other end of our output has gone: any other broken pipe is a fault to be told."""
    poll = select.poll()
    for standard in (1, 2):
        poll.register(standard, 0)  # asks for nothing but what is wrong
    return bool(poll.poll(0))


class Commands(click.Group):
    """Commands whose results may find no room, or no letters, on standard output.

    Those named in `lazy` are imported when they are run or listed: `NAME_command` of the module.
    """

    def __init__(self, *arguments: Any, lazy: Mapping[str, str], **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*super().list_commands(ctx), *self._lazy})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        if cmd_name in self._lazy and cmd_name not in self.commands:
            module = import_module(self._lazy[cmd_name])
            self.add_command(getattr(module, f"{cmd_name}_command"), cmd_name)
        return super().get_command(ctx, cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()  # whatever its exit code: what is lost is told
        except click.UsageError as error:
            # A file whose name begins with - is taken for an option, and its name is told.
            raise click.UsageError(plain(error.format_message()), error.ctx) from error
        except UnicodeEncodeError as error:
            raise Refusal(f"standard output cannot show {error.object[error.start]!r}") from error
        except OSError as error:
            raise _refusal(error) from error
        finally:
            _let_go()


def _let_go() -> None:
    """Drop what finds no room on standard output: Python would try again at its end, and fail."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
