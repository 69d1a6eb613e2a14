"""The options of `check` that decide how files are gone through."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from gradcli.batch.supervisor import cores
from gradcli.batch.task import ONE_THREAD
from gradcli.commands.configuration import Configured

if TYPE_CHECKING:
    from gradcli.batch.cache import Cache

Jobs = Annotated[int, typer.Option("--jobs", "-j", metavar="N", min=0, help="Check N files at a time; 0: as many as there are processors.")]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout", metavar="SECONDS", min=0, show_default=False,
        help="Kill the check of a file after so many seconds; the others go on.",
    ),
]  # fmt: skip
Memory = Annotated[
    int | None,
    typer.Option("--memory", metavar="MB", min=1, show_default=False, help="Let the check of a file take so many MB and no more."),
]
FailFast = Annotated[bool, typer.Option("--fail-fast", help="Stop at the first file that fails.")]
UseCache = Annotated[bool, typer.Option("--cache/--no-cache", help="Keep results, and use those of files that are unchanged.")]
CacheDir = Annotated[str | None, typer.Option("--cache-dir", metavar="DIR", show_default=False, help="Keep them here; implies --cache.")]
ForceExclude = Annotated[
    bool, typer.Option("--force-exclude", help="What the configuration excludes is left out even where it is named, as by pre-commit.")
]
UpdateExpectations = Annotated[
    bool, typer.Option("--update-expectations", help="Write what is found into the files, as # gradcli: expect WORD.")
]


def jobs(number: int) -> int:
    """How many workers `-j` asks for."""
    return number or cores()


def cache(wanted: bool, folder: str | None, config: Configured) -> Cache | None:
    """The cache that is asked for: in `folder`, else beside the configuration, else here. `--no-cache` wins over a folder."""
    if not wanted and (folder is None or "cache" in config.given):
        return None
    from gradcli.batch.cache import NAME, Cache

    return Cache(folder or os.path.join(config.config.folder, NAME))


def one_thread() -> None:
    """Sums of large arrays come out otherwise in the last digit when more threads share the work; workers have one each, too."""
    for name in ONE_THREAD:
        os.environ.setdefault(name, "1")
