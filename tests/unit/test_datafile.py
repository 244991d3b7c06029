"""Our own files are refused with file, place and reason."""

import pytest

from validator.datafile import json_pointer, place_of, places_in, read_json, read_yaml, shown
from validator.errors import DefinitionError


def test_a_key_that_occurs_twice_in_yaml_is_refused_with_its_line(tmp_path):
    path = tmp_path / "schemas" / "a.yaml"
    path.parent.mkdir()
    path.write_text("one: 1\ntwo: 2\none: 3\n")
    with pytest.raises(DefinitionError) as caught:
        read_yaml(path)
    assert (caught.value.source, caught.value.place) == ("schemas/a.yaml", "line 3, column 1")
    assert "'one' occurs twice" in str(caught.value)


def test_words_that_older_yaml_changes_stay_what_they_are(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("day: 2026-05-08\nlamp: [on, off, no, true, false]\n")
    assert read_yaml(path) == {"day": "2026-05-08", "lamp": ["on", "off", "no", True, False]}


@pytest.mark.parametrize(("text", "reason"), [("[1, 2]\n", "must hold a mapping"), ("a: [1\n", "line 2")])
def test_yaml_that_is_no_mapping_is_refused(tmp_path, text, reason):
    path = tmp_path / "a.yaml"
    path.write_text(text)
    with pytest.raises(DefinitionError, match=reason):
        read_yaml(path)


@pytest.mark.parametrize(
    ("text", "reason"), [('{"a": 1, "a": 2}', "'a' occurs twice"), ('{"a": }', "line 1, column 7")]
)
def test_json_that_is_lax_is_refused(tmp_path, text, reason):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(DefinitionError, match=reason):
        read_json(path)


def test_a_missing_file_and_one_that_is_not_utf8_are_refused(tmp_path):
    with pytest.raises(DefinitionError, match="does not exist"):
        read_yaml(tmp_path / "none.yaml")
    path = tmp_path / "a.yaml"
    path.write_bytes(b"a: \xff\n")
    with pytest.raises(DefinitionError, match="not UTF-8"):
        read_yaml(path)


def test_a_place_names_the_line_and_the_pointer(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("rows:\n  - {a: 1}\n  - {a: 2}\n")
    assert places_in(path).line_of(["rows", 1, "a"]) == 3
    assert places_in(path).line_of(["rows", 7]) is None
    assert place_of(path, ["rows", 1]) == "line 3 (/rows/1)"
    assert place_of(tmp_path / "a.json", ["x"]) == "/x"


def test_a_pointer_escapes_what_it_must():
    assert json_pointer(["a/b", "c~d", 0]) == "/a~1b/c~0d/0"


def test_a_shown_path_never_starts_at_the_root_of_the_machine(tmp_path):
    assert shown(tmp_path / "schemas" / "x" / "y.yaml") == "schemas/x/y.yaml"
    assert shown(tmp_path / "elsewhere.yaml") == "elsewhere.yaml"
