"""Where bytes come from and go to."""

import io
import os
import stat

import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError
from nxkernel.formats.file_access import ByteSource, brief, replacing


def test_bytes_files_and_paths(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(b"abc")
    assert ByteSource.of(path) == ByteSource(b"abc", str(path)) == ByteSource.of(str(path))
    for given in (b"abc", bytearray(b"abc"), memoryview(b"abc")):
        assert ByteSource.of(given) == ByteSource(b"abc", "the 3 bytes given")
    with open(path, "rb") as file:
        assert ByteSource.of(file) == ByteSource(b"abc", str(path))
    assert ByteSource.of(io.BytesIO(b"abc")) == ByteSource(b"abc", "the file given")


def test_what_is_no_source(tmp_path):
    with pytest.raises(NxTypeError, match="expected a path, an open binary file or bytes, got a list"):
        ByteSource.of([1])
    with pytest.raises(NxTypeError, match=r'the file is open for text\.\n  Open it for bytes: open\(path, "rb"\)\.'):
        ByteSource.of(io.StringIO("abc"))
    with pytest.raises(FileNotFoundError, match=r"nowhere\.npy"):
        ByteSource.of(tmp_path / "nowhere.npy")


def test_refusals_name_the_file():
    with pytest.raises(NxValueError) as error:
        ByteSource(b"", "x.npy").refuse("it is empty", "Write it again.", cause=KeyError("a"))
    assert str(error.value) == "cannot read x.npy: it is empty\n  Write it again."
    assert isinstance(error.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"[1]", r"it is no JSON object but \[1\]"),
        (b"{", "it is no valid JSON: Expecting property name"),
        (b'{"a": 1, "b": 2, "a": 3}', "it is no valid JSON: the key 'a' is there twice"),
        (b'{"a": {"b": 1, "b": 1}}', "the key 'b' is there twice"),
        (b'{"a": NaN}', "NaN is no JSON"),
        (b'{"a": "\xff"}', "it is no valid JSON: 'utf-8' codec"),
        (b'{"a": ' + b"[" * 100_000, "it is no valid JSON: maximum recursion depth"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "it is no valid JSON: Exceeds the limit"),
    ],
)
def test_objects_are_read_strictly(text, reason):
    with pytest.raises(NxValueError, match=reason):
        ByteSource(text, "x").object(text, "it")


def test_brief():
    assert brief({"a": [1, 2]}) == "{'a': [1, 2]}"
    assert len(brief(["long" * 100] * 100)) == 80
    nested = []
    for _ in range(5000):
        nested = [nested]
    assert brief(nested) == "[[[[[[[...]]]]]]]"


def test_a_file_is_replaced_when_all_is_written(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    with pytest.raises(TypeError, match="bytes-like"), replacing(path) as file:
        file.writelines([b"half", "no bytes"])
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["x.bin"]


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_permissions_and_links(tmp_path):
    path, link = tmp_path / "x.bin", tmp_path / "link"
    before = os.umask(0o027)
    try:
        with replacing(path) as file:
            file.write(b"a")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    link.symlink_to(path)
    with replacing(link) as file:
        file.write(b"b")
    assert link.is_symlink()
    assert path.read_bytes() == b"b"
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    with replacing("/dev/null") as file:
        file.write(b"c")
    assert not os.path.isfile("/dev/null")


def test_what_cannot_be_written_to(tmp_path):
    with pytest.raises(NxTypeError, match=r"Open it for bytes: open\(path, \"wb\"\)"), replacing(io.StringIO()):
        pass
    with pytest.raises(NxTypeError, match="expected a path or an open binary file, got 3"), replacing(3):
        pass
    with pytest.raises(IsADirectoryError), replacing(tmp_path):
        pass
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "nowhere" / "x"):
        pass


@pytest.fixture
def files(tmp_path):
    """A file of each format, by how its name ends."""
    made = {ending: str(tmp_path / f"x.{ending}") for ending in ("npy", "npz", "safetensors", "nxk")}
    nx.save_numpy(made["npy"], nx.eye(2))
    nx.save_numpy_archive(made["npz"], {"w": nx.eye(2)})
    nx.save_safetensors(made["safetensors"], {"w": nx.eye(2)})
    nx.save(made["nxk"], {"w": nx.eye(2)})
    return made


@pytest.mark.parametrize(
    ("load", "ending", "told"),
    [
        (nx.load_numpy, "npz", "a ZIP archive: nx.load_numpy_archive reads .npz"),
        (nx.load_numpy, "safetensors", "a safetensors file: nx.load_safetensors reads it"),
        (nx.load_numpy_archive, "npy", "a .npy file: nx.load_numpy reads it"),
        (nx.load, "npy", "a .npy file: nx.load_numpy reads it"),
        (nx.load, "npz", "a ZIP archive: nx.load_numpy_archive reads .npz"),
        (nx.load, "safetensors", "a safetensors file: nx.load_safetensors reads it"),
        (nx.load_safetensors, "nxk", "a file of nx.save: nx.load reads it"),
        (nx.load_safetensors, "npy", "a .npy file: nx.load_numpy reads it"),
    ],
)
def test_the_error_names_what_reads_the_file(load, ending, told, files):
    with pytest.raises(ValueError) as error:
        load(files[ending])
    assert str(error.value).endswith(f"; it looks like {told}")


@pytest.mark.parametrize(
    ("ending", "function"),
    [(".npy", "save_numpy"), (".npz", "save_numpy_archive"), (".safetensors", "save_safetensors")],
)
def test_a_name_of_another_format_is_no_name_for_save(ending, function, tmp_path):
    path = tmp_path / f"x{ending}"
    with pytest.raises(ValueError) as error:
        nx.save(path, nx.eye(2))
    assert str(error.value) == (
        f"save writes nxkernel's own format, which {str(path)!r} is no name for.\n"
        f"  nx.{function} writes {ending} files; files of nx.save may end in .nxk."
    )
    assert not path.exists()


def test_safetensors_are_a_dict(tmp_path):
    with pytest.raises(TypeError) as error:
        nx.save_safetensors(tmp_path / "x.safetensors", [nx.eye(2)])
    assert str(error.value) == (
        "save_safetensors takes a dict of tensors by name, got a list.\n"
        '  Write nx.save_safetensors(path, {"weight": t}).'
    )
