"""Configuration files: found, read, and refused with the line."""

from __future__ import annotations

import pytest

from gradcli.config.key import Key
from gradcli.config.load import ConfigError, find, load
from gradcli.config.places import places

OUTSIDE = "set it outside of the table for some files"
KEYS = [
    Key("rtol", "rtol", float, 0.0, minimum=0),
    Key("max-steps", "max_steps", int, 10, minimum=0, maximum=1000),
    Key("strict", "strict", bool, False),
    Key("wrt", "wrt", str, None, many=True),
    Key("color", "color", str, "auto", choices=("auto", "never"), each=False),
]


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text: str, name: str = "gradcli.toml") -> str:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        return name

    return write


def test_settings_and_where_they_stand(written):
    config = load(written('rtol = 1\n\n# more\nmax_steps = 3\nwrt = [\n  "x",\n]\n'), KEYS)
    assert {name: tuple(setting) for name, setting in config.settings.items()} == {
        "rtol": (1.0, "gradcli.toml:1"),
        "max_steps": (3, "gradcli.toml:4"),
        "wrt": (["x"], "gradcli.toml:5"),
    }


@pytest.mark.parametrize("name", ["pyproject.toml", "gradcli.toml"])
def test_the_long_name_of_the_table(written, name):
    config = load(written('[project]\nname = "x"\n[tool.gradcli]\nstrict = true\n', name), KEYS)
    assert config.settings["strict"] == (True, f"{name}:4")


def test_sections_for_files(written, tmp_path):
    text = 'strict = true\n[per-file."slow/*.grad"]\nrtol = 0.5\n[per-file."slow/b.grad"]\nrtol = 0.25\nstrict = false\n'
    config = load(written(text), KEYS)
    assert {name: setting.value for name, setting in config.for_file("slow/a.grad").items()} == {"rtol": 0.5}
    assert {name: setting.value for name, setting in config.for_file("slow/b.grad").items()} == {"rtol": 0.25, "strict": False}
    assert config.for_file("a.grad") == {}


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("rtool = 1", "gradcli.toml:1: unknown key 'rtool'", "did you mean 'rtol'?"),
        ("x = 1\n", "gradcli.toml:1: unknown key 'x'", "gradcli config lists the keys"),
        ("\nrtol = 'a'", 'gradcli.toml:2: rtol is "a", and not a finite number of at least 0', None),
        ("rtol = -1", "gradcli.toml:1: rtol is -1, and not a finite number of at least 0", None),
        ("rtol = inf", "gradcli.toml:1: rtol is inf, and not a finite number of at least 0", None),
        ("rtol = nan", "gradcli.toml:1: rtol is nan, and not a finite number of at least 0", None),
        ("max-steps = 1.5", "gradcli.toml:1: max-steps is 1.5, and not a whole number of at least 0 and at most 1000", None),
        ("max-steps = true", "gradcli.toml:1: max-steps is true, and not a whole number of at least 0 and at most 1000", None),
        ("max-steps = 1001", "gradcli.toml:1: max-steps is 1001, and not a whole number of at least 0 and at most 1000", None),
        ("strict = 1", "gradcli.toml:1: strict is 1, and not true or false", None),
        ("wrt = 'x'", 'gradcli.toml:1: wrt is "x", and not an array, each item a string', None),
        ("wrt = [1]", "gradcli.toml:1: wrt is [1], and not an array, each item a string", None),
        ("color = 'pink'", 'gradcli.toml:1: color is "pink", and not one of auto, never', None),
        ("[per-file.'*.grad']\ncolor = 'auto'", "gradcli.toml:2: color is the same for all files", OUTSIDE),
        ("[per-file.'*.grad']\nstrikt = true", "gradcli.toml:2: unknown key 'strikt'", "did you mean 'strict'?"),
        ("per-file = 1", "gradcli.toml:1: per-file: a table for each pattern", '[per-file."slow/*.grad"]'),
        ("per-file.'*' = 1", "gradcli.toml:1: per-file.'*' is a table of options", None),
        ("[tool]\ngradcli = 1", "gradcli.toml:2: tool.gradcli is a table", "[tool.gradcli]"),
        ("rtol = \n", "gradcli.toml:1:8: Invalid value", "this is TOML, see https://toml.io"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(written, text, message, hint):
    with pytest.raises(ConfigError) as caught:
        load(written(text), KEYS)
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_all_that_is_wrong_is_told_at_once(written):
    with pytest.raises(ConfigError) as caught:
        load(written("rtool = 1\nstrict = 3\n"), KEYS)
    assert caught.value.message.splitlines() == [
        "gradcli.toml:1: unknown key 'rtool' (did you mean 'rtol'?)",
        "gradcli.toml:2: strict is 3, and not true or false",
    ]


def test_what_cannot_be_read(written, tmp_path):
    with pytest.raises(ConfigError, match=r"cannot read none\.toml"):
        load("none.toml", KEYS)
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load("bytes.toml", KEYS)


def test_the_nearest_is_found(written, tmp_path):
    written("[tool.gradcli]\n", "pyproject.toml")
    written("[tool.other]\n", "a/pyproject.toml")
    written("", "a/b/x.grad")
    assert find("a/b") == (tmp_path / "pyproject.toml").as_posix()
    written("", "a/gradcli.toml")
    assert find("a/b") == (tmp_path / "a/gradcli.toml").as_posix()


def test_the_search_ends_at_the_root_of_the_repository(written):
    written("[tool.gradcli]\n", "pyproject.toml")
    written("", "a/.git/HEAD")
    written("", "a/b/x.grad")
    assert find("a/b") is None


def test_one_that_is_no_toml_is_told_of_if_it_is_ours(written, tmp_path):
    written("[tool.gradcli\n", "pyproject.toml")
    assert find(".") == (tmp_path / "pyproject.toml").as_posix()
    written("[tool.other\n", "pyproject.toml")
    assert find(".") is None


def test_a_byte_order_mark_is_no_fault(written, tmp_path):
    config = load(written("\ufeff[tool.gradcli]\nrtol = 1\n", "pyproject.toml"), KEYS)
    assert config.settings["rtol"] == (1.0, "pyproject.toml:2")
    assert find(str(tmp_path)) == str(tmp_path / "pyproject.toml")


def test_one_that_cannot_be_read_may_be_ours(written, tmp_path, monkeypatch):
    written("", "pyproject.toml")
    monkeypatch.setattr("builtins.open", refuse)
    assert find(str(tmp_path)) == str(tmp_path / "pyproject.toml")


def refuse(*arguments):
    raise PermissionError(13, "Permission denied")


def test_places():
    text = 'a = 1\n[tool."b.c".d]\n"e f" = 2\nx.y = 3\n[[array]]\n'
    found = places(text)
    assert found["a",] == 1
    assert found["tool", "b.c", "d"] == found["tool",] == 2
    assert found["tool", "b.c", "d", "e f"] == 3
    assert found["tool", "b.c", "d", "x", "y"] == 4
