"""The pictures of README.md are what its commands draw now. `pytest --update-golden tests/graph/test_pictures.py` draws them anew."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
COMMAND = re.compile(r"^\| `gradcli ([^`]*\b(\w+\.svg))` \| !\[[^]]*\]\((samples/pictures/\2)\) \|$", re.MULTILINE)
COMMANDS = COMMAND.findall((ROOT / "README.md").read_text(encoding="utf-8"))


def steady(picture: str) -> list[str]:
    """What is written in a picture, without rounding errors: their digits differ between machines, and move what stands beside them."""
    written = re.findall(r"<text [^>]*class=\"([^\"]*)\">(.*?)</text>", picture)
    return [f"{kind}: {re.sub('(max )?rel err [-+.e0-9]+|exact', 'agrees', text)}" for kind, text in written]


def test_there_are_five() -> None:
    assert len(COMMANDS) == 5


@pytest.mark.parametrize(("line", "written", "picture"), COMMANDS, ids=[Path(written).stem for _, written, _ in COMMANDS])
def test_a_picture_is_what_its_command_draws(gradcli, tmp_path: Path, request, line: str, written: str, picture: str) -> None:
    shutil.copytree(ROOT / "samples", tmp_path / "samples")
    done = gradcli(*line.split())
    assert done.returncode == 0, done.stderr
    drawn = (tmp_path / written).read_text(encoding="utf-8")
    if request.config.getoption("--update-golden"):
        (ROOT / picture).write_text(drawn, encoding="utf-8", newline="\n")
    assert steady(drawn) == steady((ROOT / picture).read_text(encoding="utf-8"))
