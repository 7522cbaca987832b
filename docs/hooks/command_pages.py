"""One page of documentation per command of ``gola``, made from the command line itself when the site is built."""

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.testing import CliRunner

from gola.cli import app


def on_config(config: MkDocsConfig) -> None:
    """Put the pages into the navigation, in the order of ``gola --help``."""
    for section in config["nav"]:
        if "Commands" in section:
            section["Commands"] = [{name: _path(name)} for name in command_names()]


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Make the pages."""
    for name in command_names():
        files.append(File.generated(config, _path(name), content=page(name)))


def command_names() -> list[str]:
    """Return the names of all commands."""
    return [command.name or command.callback.__name__ for command in app.registered_commands]


def page(name: str) -> str:
    """Return what ``gola NAME --help`` says, as Markdown."""
    shown = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})
    # The program that is really running is the one that builds these pages.
    text = "\n".join(line.rstrip() for line in shown.output.replace("Usage: root", "Usage: gola").splitlines())
    return f"# gola {name}\n\n```text\n{text.strip()}\n```\n"


def _path(name: str) -> str:
    return f"commands/{name}.md"
