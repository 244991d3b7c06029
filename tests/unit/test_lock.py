"""A frozen folder stays as it is."""

import pytest

from validator import resources
from validator.errors import DefinitionError
from validator.protocol import lock


def frozen(contract):
    folder = contract / "schemas" / "runagents" / "1"
    lock.write(folder)
    return folder


def test_nothing_that_is_locked_has_changed():
    changed = {folder.name: list(lock.check(folder)) for folder in lock.locked(resources.schemas())}
    assert not any(changed.values()), changed


def test_a_fresh_lock_is_clean_and_can_be_written_again(contract):
    folder = frozen(contract)
    assert list(lock.check(folder)) == []
    assert lock.locked(contract / "schemas") == [folder]
    lock.write(folder)
    assert list(lock.check(folder)) == []


def test_an_edit_a_new_file_and_a_lost_file_are_told(contract):
    folder = frozen(contract)
    with (folder / "protocol.yaml").open("a") as file:
        file.write("# a remark\n")
    (folder / "extra.yaml").write_text("a: 1\n")
    (folder / "machines" / "run.yaml").unlink()
    assert list(lock.check(folder)) == ["extra.yaml is new", "machines/run.yaml is gone", "protocol.yaml has changed"]


def test_a_changed_folder_is_not_locked_again(contract):
    folder = frozen(contract)
    (folder / "extra.yaml").write_text("a: 1\n")
    with pytest.raises(DefinitionError) as caught:
        lock.write(folder)
    assert "open the next version" in str(caught.value)
