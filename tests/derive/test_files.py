"""Files that a person names are written whole or not at all."""

import io
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from derive import files
from derive.errors import WrongData
from derive.files import alone, content_of, content_or_input, write


@pytest.mark.parametrize("kind", ["read-only", "loop", "device", "pipe", "the answer itself"])
def test_what_may_not_be_replaced_is_named_and_kept(tmp_path, monkeypatch, kind: str):
    monkeypatch.chdir(tmp_path)
    path = Path("run\n.json")
    if kind == "loop":
        path.symlink_to(path.name)
    elif kind == "device":
        path.symlink_to(os.devnull)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_text("mine")
    if kind == "read-only":
        path.chmod(0o444)
    before, kept = os.lstat(path), os.dup(1)
    with open(path, "a") if kind == "the answer itself" else open(os.devnull) as output:
        os.dup2(output.fileno() if kind == "the answer itself" else kept, 1)
        try:
            with pytest.raises(WrongData, match="cannot be written") as caught:
                write(str(path), "new")
        finally:
            os.dup2(kept, 1)
            os.close(kept)
    assert str(caught.value).startswith(r"'run\n.json': cannot be written (")
    assert os.listdir() == [path.name] and os.path.samestat(before, os.lstat(path))
    assert kind in ("loop", "device", "pipe") or path.read_text() == "mine"


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """A disk of 64 kB, where this process may mount one."""
    (disk := tmp_path / "disk").mkdir()
    mount = shutil.which("mount")
    if not mount or subprocess.run([mount, "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True, check=False).returncode:
        pytest.skip("no disk may be mounted here")
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_a_disk_that_is_full_leaves_the_old_file_whole_and_nothing_beside_it(small_disk):
    place, rest = small_disk / "mine.csv", small_disk / "rest"
    place.write_text("mine")
    with pytest.raises(OSError, match="No space left on device"):
        rest.write_bytes(b"\0" * 100_000)
    with pytest.raises(WrongData, match=r"mine\.csv: cannot be written \(No space left on device"):
        write(str(place), "new")
    assert place.read_text() == "mine" and sorted(os.listdir(small_disk)) == ["mine.csv", "rest"]
    rest.unlink()
    write(str(place), "new")
    assert place.read_text() == "new"


HOLDING = """
import sys, time
from derive.files import alone
with alone(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_file_is_held_by_one_at_a_time_and_a_process_that_is_killed_holds_nothing(tmp_path, monkeypatch):
    place = tmp_path / "mine.csv"
    with subprocess.Popen([sys.executable, "-c", HOLDING, str(place)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        monkeypatch.setattr(files, "PATIENCE", 0.2)
        with pytest.raises(WrongData, match=r"mine\.csv: another process has been writing in its folder for 0\.2 s"), alone(str(place)):
            pytest.fail("both hold it")
        other.kill()
    with alone(str(place)):
        assert os.listdir(tmp_path) == [], "nothing is left behind"


def test_a_folder_that_is_not_there_cannot_be_written(tmp_path):
    with (
        pytest.raises(WrongData, match=r"none/mine\.csv: cannot be written \(No such file or directory"),
        alone(str(tmp_path / "none/mine.csv")),
    ):
        pytest.fail("there is no such folder")


def test_a_file_that_grows_while_it_is_read_is_read_up_to_the_limit(tmp_path, monkeypatch):
    place = tmp_path / "mine.csv"
    place.write_bytes(b"a")
    before = os.stat(place)
    place.write_bytes(b"a" * (files.MIB + 1))
    monkeypatch.setattr(files.os, "stat", lambda _: before)
    monkeypatch.setattr(files.os, "fstat", lambda _: before)
    with pytest.raises(WrongData, match=r"mine\.csv: cannot be read \(it is larger than 1 MiB"):
        content_of(place, files.MIB)


def test_standard_input_is_read_up_to_the_limit(monkeypatch):
    for text in (b"", b"a" * files.MIB):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
        assert content_or_input("-", files.MIB) == text
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a" * (files.MIB + 1))))
    with pytest.raises(WrongData, match=r"standard input: cannot be read \(it is larger than 1 MiB"):
        content_or_input("-", files.MIB)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(tmp_path, monkeypatch):
    place, file = tmp_path / "pipe", tmp_path / "file"
    file.write_bytes(b"a")
    os.mkfifo(place)
    before = os.stat(file)
    monkeypatch.setattr(files.os, "stat", lambda _: before)
    with pytest.raises(WrongData, match=r"pipe: cannot be read \(it is not a file; a pipe can be given as standard input"):
        content_of(place)


def test_what_is_no_file_and_no_pipe_is_not_told_to_be_given_as_one(tmp_path):
    for place in (str(tmp_path), os.devnull):
        with pytest.raises(WrongData, match=r"cannot be read \(it is not a file\)$"):
            content_of(place)


@pytest.mark.skipif(os.name == "nt", reason="no such permissions there")
def test_a_file_keeps_its_permissions_and_its_link_and_a_new_one_has_those_of_any_new_file(tmp_path):
    for mode in (0o600, 0o640, 0o666):
        (path := tmp_path / f"{mode}").write_text("old " * 1000)
        path.chmod(mode)
        (link := tmp_path / f"link-{mode}").symlink_to(path)
        write(str(link), "new")
        assert link.is_symlink() and path.read_text() == "new" and stat.S_IMODE(path.stat().st_mode) == mode
    for mask, mode in ((0o022, 0o644), (0o077, 0o600), (0o002, 0o664)):
        before = os.umask(mask)
        try:
            write(str(tmp_path / f"new-{mask}"), "new")
            assert os.umask(mask) == mask, "writing leaves the mask as it was"
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / f"new-{mask}").stat().st_mode) == mode
    assert len(os.listdir(tmp_path)) == 9, "nothing is left beside the files"
