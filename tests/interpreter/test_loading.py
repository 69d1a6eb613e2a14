"""load(...): arrays beside the file, and nothing else of the machine."""

import os
import pickle

import numpy as np
import pytest

from gradcli.interpreter import run_file
from gradcli.interpreter.limits import Limits
from gradcli.syntax import Source


@pytest.fixture
def load(tmp_path):
    """Loads a file that a program beside it names."""
    folder = tmp_path / "programs"
    folder.mkdir()

    def run(name, content=None, **options):
        if isinstance(content, np.ndarray):
            np.save(folder / name, content)
        elif content is not None:
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return run_file(Source(str(folder / "f.grad"), f"x = load({name!r})"), **options)

    run.folder = folder
    return run


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,2\n3,4\n", [[1.0, 2.0], [3.0, 4.0]]),
        ("1\n2\n3", [1.0, 2.0, 3.0]),
        ("1, 2, 3", [[1.0, 2.0, 3.0]]),
        ("# a, b\r\n1e-3, nan\r\n\r\n-inf, 2", [[1e-3, np.nan], [-np.inf, 2.0]]),
        ("\ufeff5", [5.0]),
    ],
)
def test_csv(load, text, expected):
    np.testing.assert_array_equal(load("a.csv", text).scope["x"].value, expected)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("a,b\n1,2", "'a.csv', line 1, column 1: 'a' is no number", "line of names"),
        ("1,2\n3,", "'a.csv', line 2, column 2: the value is missing", "nan"),
        ("1,2\n\n3", "line 3 has 1 values, line 1 has 2", "equal length"),
        ("1;2", "'1;2' is no number", "commas"),
        ("1,5_0", "'5_0' is no number", "commas"),
        ("", "'a.csv' is empty", None),
        (b"\xff\xfe1", "is no text", "UTF-8"),
    ],
)
def test_csv_that_is_no_table_of_numbers(load, text, message, hint):
    error = load("a.csv", text).error
    assert (error.type, error.kind) == ("ValueError", "value")
    assert message in error.message
    assert hint is None or hint in error.hint


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool", "complex128", ">f8", "uint16", "longdouble"])
def test_npy(load, dtype):
    array = np.array([[0, 1], [1, 0]]).astype(dtype)
    value = load("a.npy", array).scope["x"].value
    np.testing.assert_array_equal(value, array)
    assert value.dtype.isnative
    assert value.dtype.itemsize <= 16


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (np.array([{"a": 1}], dtype=object), "Python objects in dtype"),
        (pickle.dumps([1, 2]), "no .npy file that can be read"),
        (b"\x93NUMPY\x01\x00v\x00{'descr': __import__('os').system('touch owned'), 'fortran_order': False, 'shape': (1,), }", "no .npy"),
        (b"", "no .npy file that can be read"),
        (np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]), "holds no numbers"),
        (np.array(["a"]), "holds no numbers"),
        (np.array([2**64 - 1], dtype=np.uint64), "beyond int64"),
    ],
)
def test_npy_that_is_no_array_of_numbers(load, content, message):
    assert message in load("a.npy", content).error.message
    assert not os.path.exists("owned")


def test_a_header_that_claims_more_than_the_file_has(load):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000,), }"
    assert load("a.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header).error is not None


def test_large_files_are_refused_before_they_are_read(load):
    limits = Limits(tensor_elements=100)
    assert "--max-tensor-elements" in load("a.npy", np.zeros(101), limits=limits).error.message
    assert "--max-tensor-elements" in load("a.csv", "1," * 101 + "1", limits=limits).error.message
    assert "--max-tensor-elements" in load("b.csv", "1" * 5000, limits=limits).error.message


@pytest.mark.parametrize("name", ["../secret.csv", "/etc/passwd", "link.csv", "folder/../../secret.csv", "a\0.csv", "a.pkl", "a.npz"])
def test_nothing_outside_the_folder(load, name):
    (load.folder.parent / "secret.csv").write_text("1")
    (load.folder / "link.csv").symlink_to(load.folder.parent / "secret.csv")
    error = load(name).error
    assert error.type == "ValueError"
    assert "outside the folder" in error.message or "neither a .npy nor a .csv" in error.message


def test_a_link_within_the_folder_is_followed(load):
    (load.folder / "a.csv").write_text("7")
    (load.folder / "link.csv").symlink_to(load.folder / "a.csv")
    assert load("link.csv").scope["x"].value.tolist() == [7.0]


def test_data_folder(load, tmp_path):
    (tmp_path / "secret.csv").write_text("8")
    assert load("secret.csv", data=str(tmp_path)).scope["x"].value.tolist() == [8.0]


def test_what_is_no_file(load):
    os.mkfifo(load.folder / "pipe.csv")
    assert "there is no file 'pipe.csv'" in load("pipe.csv").error.message
    assert "there is no file 'none.csv'" in load("none.csv").error.message
