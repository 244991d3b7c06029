"""Files are reached inside the workspace and nowhere else, whatever a path says and whoever changes it meanwhile."""

import ctypes
import os
import threading

import pytest

from reference_runtime.work.real.workspace import OutsideError, Workspace, names, shown
from tests.runtime.real.floor import read, shell, write

LEXICAL = {
    "parent": "../outside/secret.txt",
    "parent inside": "docs/../../outside/secret.txt",
    "only parent": "..",
    "absolute": "/etc/passwd",
    "home": "~/secret.txt",
    "drive": "C:/secret.txt",
    "share": "//server/share",
    "backslash": "..\\outside\\secret.txt",
    "null byte": "notes.txt\0.png",
    "encoded": "%2e%2e/outside/secret.txt",
    "encoded slash": "docs%2f..%2f..%2foutside",
    "encoded twice": "%252e%252e/outside/secret.txt",
    "encoded null": "notes%00.txt",
    "hidden folder": "docs%2fplan.md",
    "empty": "",
    "the root": ".",
    "lone surrogate": "a\ud800b",
    "too long": "a/" * 3000,
}


@pytest.fixture
def place(tmp_path):
    """A workspace beside a folder that must never change, and what is in that folder."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("kept")
    (tmp_path / "workspace").mkdir()
    space = Workspace(tmp_path / "workspace")
    yield space, outside
    space.close()
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"secret.txt": "kept"}


@pytest.mark.parametrize("path", LEXICAL.values(), ids=LEXICAL)
def test_a_path_that_is_not_plainly_inside_is_refused(place, path):
    space, _ = place
    for act in (lambda: space.read(path, 10), lambda: space.write(path, b"x")):
        with pytest.raises(OutsideError):
            act()
    assert list(space.root.iterdir()) == []


@pytest.mark.parametrize("path", ["notes.txt", "a/b/c.txt", "./notes.txt", "a..b", "100%.txt", ".../x", "ünï cödé.txt"])
def test_a_path_that_is_inside_works(place, path):
    space, _ = place
    space.write(path, b"first")
    space.write(path, b"second")
    assert space.read(path, 100) == (b"second", 6)
    assert list(space.root.rglob("*.part")) == []


def linked(space, outside, kind):
    """Makes a way out of the workspace, and names the path that takes it."""
    root = space.root
    if kind == "folder":
        (root / "way").symlink_to(outside)
        return "way/secret.txt"
    if kind == "file":
        (root / "way.txt").symlink_to(outside / "secret.txt")
    elif kind == "relative":
        (root / "way.txt").symlink_to("../outside/secret.txt")
    elif kind == "to nothing":
        (root / "way.txt").symlink_to(outside / "new.txt")
    elif kind == "inside":
        (root / "real.txt").write_text("inside")
        (root / "way.txt").symlink_to("real.txt")
    elif kind == "loop":
        (root / "way.txt").symlink_to("way.txt")
    elif kind == "hard":
        os.link(outside / "secret.txt", root / "way.txt")
    elif kind == "pipe":
        os.mkfifo(root / "way.txt")
    return "way.txt"


@pytest.mark.parametrize("kind", ["folder", "file", "relative", "to nothing", "inside", "loop", "hard", "pipe"])
def test_a_link_is_refused_wherever_it_leads(place, kind):
    space, outside = place
    path = linked(space, outside, kind)
    for act in (lambda: space.read(path, 10), lambda: space.write(path, b"changed")):
        with pytest.raises(OutsideError):
            act()


def test_roots_inside_the_workspace_are_kept_apart(tmp_path):
    for name in ("src", "build", "builder"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(name)
    space = Workspace(tmp_path, read_roots=("src", "build"), write_roots=("build",))
    assert space.read("src/a.txt", 10) == (b"src", 3)
    space.write("build/b.txt", b"made")
    for act in (lambda: space.write("src/a.txt", b"x"), lambda: space.read("builder/a.txt", 10)):
        with pytest.raises(OutsideError):
            act()
    space.close()


def exchange(one, other):
    """Swaps two names at once."""
    here, at_once = -100, 2
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.renameat2(here, bytes(one), here, bytes(other), at_once) == 0, os.strerror(ctypes.get_errno())


def test_a_folder_swapped_for_a_link_between_check_and_use_leads_nowhere(place):
    """A thread swaps a folder for a link to the outside and back, as fast as it can, while files are written there."""
    space, outside = place
    folder, link, stop = space.root / "docs", space.root / "link", threading.Event()
    folder.mkdir()
    link.symlink_to(outside)

    def swap():
        while not stop.is_set():
            exchange(folder, link)

    swapper, outcomes = threading.Thread(target=swap), {"done": 0, "refused": 0}
    swapper.start()
    try:
        while min(outcomes.values()) < 50 and swapper.is_alive():
            try:
                space.write("docs/secret.txt", b"written")
                outcomes["done"] += 1
                assert space.read("docs/secret.txt", 10)[0] == b"written"
            except (OutsideError, NotADirectoryError):  # the second when the link is gone again before it is looked at
                outcomes["refused"] += 1
    finally:
        stop.set()
        swapper.join()
    assert min(outcomes.values()) >= 50


@pytest.mark.parametrize("path", LEXICAL.values(), ids=LEXICAL)
def test_what_is_shown_of_a_path_says_nothing_about_the_machine(path):
    told = shown(path)
    assert names(told) == [told]


ESCAPES = ["../outside.txt", "/etc/passwd", "%2e%2e/x.txt", "a\0b", "link/secret.txt", "~/x", "C:\\x"]


@pytest.mark.parametrize("path", ESCAPES)
@pytest.mark.parametrize("use", [read, write], ids=["read", "write"])
def test_an_escape_through_a_tool_is_a_violation_and_changes_nothing(floor, tmp_path, use, path):
    one = floor()
    (tmp_path / "secret.txt").write_text("kept")
    (one.site.workspace / "link").symlink_to(tmp_path)
    one.run(use(path))
    assert "sandbox.violation" in one.types()
    assert one.said("tool.failed")["error"]["category"] == "sandbox"
    assert "tool.result" not in one.types()
    assert (tmp_path / "secret.txt").read_text() == "kept"
    assert one.files() == {"link"}
    assert one.judged() == []


@pytest.mark.parametrize("folder", ["..", "/", "link", "%2e%2e", "a\0b"])
def test_a_command_works_in_no_folder_outside(floor, tmp_path, folder):
    one = floor()
    (one.site.workspace / "link").symlink_to(tmp_path)
    one.run(shell("echo made > made.txt", cwd=folder))
    assert not (tmp_path / "made.txt").exists()
    assert "process.started" not in one.types()
    assert "sandbox.violation" in one.types()
    assert one.judged() == []
