"""Clauses have one keyword and ids of their own."""

import pytest

from validator.errors import DefinitionError
from validator.protocol.clauses import load_clauses


def spec(tmp_path, text):
    folder = tmp_path / "spec" / "p" / "1"
    folder.mkdir(parents=True)
    (folder / "01-a.md").write_text(text)
    return tmp_path / "spec"


def test_a_clause_is_read_with_its_keyword_and_place(tmp_path):
    clauses = load_clauses(
        spec(tmp_path, "# A\n\n**AB-1.** It MUST NOT\nspan a line.\n\nProse must be free.\n\n**AB-2.** It MAY.\n")
    )
    first = clauses["AB-1"]
    assert (first.keyword, first.level, first.line, first.file) == ("MUST NOT", "MUST", 3, "spec/p/1/01-a.md")
    assert first.text == "It MUST NOT span a line."
    assert clauses["AB-2"].level == "MAY"
    assert (list(clauses), len(clauses), "AB-3" in clauses) == (["AB-1", "AB-2"], 2, False)


def test_outside_of_its_chapter_a_clause_is_told_without_links(tmp_path):
    clauses = load_clauses(spec(tmp_path, "**AB-1.** It MUST follow [the other](02-b.md#ab-9).\n"))
    assert clauses["AB-1"].sentence == "It MUST follow the other."


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("**AB-1.** It MUST and it SHOULD.\n", "line 1", "AB-1 has 2 normative keywords"),
        ("\n**AB-1.** It does.\n", "line 2", "AB-1 has 0 normative keywords"),
        ("**AB-1.** It MUST.\n\n**AB-1.** It MAY.\n", "line 3", "AB-1 is already the id of"),
    ],
)
def test_a_faulty_clause_is_refused_with_its_line(tmp_path, text, place, reason):
    with pytest.raises(DefinitionError) as caught:
        load_clauses(spec(tmp_path, text))
    assert caught.value.place == place
    assert reason in caught.value.reason
