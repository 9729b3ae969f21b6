"""`pathscope completion`."""

from __future__ import annotations

import click


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the shell's completion script.

    \b
    Example:
      pathscope completion bash > ~/.local/share/bash-completion/completions/pathscope
    """
    from click.shell_completion import get_completion_class

    root = click.get_current_context().find_root().command
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(found(root, {}, "pathscope", "_PATHSCOPE_COMPLETE").source())
