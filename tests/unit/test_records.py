"""Our data classes behave like those of the standard library, and are taken for them."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from validator import records
from validator.redact.scanner import Leak


@records.dataclass(frozen=True, slots=True)
class Frozen:
    """Two fields that must be given, and two that need not."""

    name: str
    size: int
    tags: tuple[str, ...] = ()
    notes: dict[str, str] = records.field(default_factory=dict)


@records.dataclass(frozen=True, slots=True)
class Longer(Frozen):
    """One field more, and another default."""

    tags: tuple[str, ...] = ("long",)
    more: str = ""

    @property
    def whole(self) -> str:
        return self.name + self.more


@records.dataclass(slots=True)
class Open:
    """May be changed, so it is no key."""

    name: str
    found: list[int] = records.field(default_factory=list)


@records.dataclass(frozen=True, slots=True)
class Name:
    """One field, so its values are no tuple."""

    name: str


@records.dataclass(slots=True, eq=False)
class Same:
    """Equal to itself alone."""

    name: str


def test_fields_are_taken_in_their_order_and_by_name():
    made = Frozen("a", size=2)
    assert (made.name, made.size, made.tags, made.notes) == ("a", 2, (), {})
    assert Longer("a", 1, more="b").whole == "ab"
    assert Longer("a", 1).tags == ("long",)


def test_a_default_that_is_made_is_made_anew():
    assert Open("a").found is not Open("b").found
    assert Open("a", [1]).found == [1]


@pytest.mark.parametrize(
    ("args", "named"), [((), {}), (("a",), {}), (("a", 1), {"other": 2}), (("a", 1, (), {}, 5), {})]
)
def test_what_does_not_fit_is_refused(args, named):
    with pytest.raises(TypeError):
        Frozen(*args, **named)


def fresh(frozen):
    """A class of which no object was made yet."""

    @records.dataclass(frozen=frozen, slots=True)
    class Fresh:
        name: str
        size: int = 0
        notes: dict[str, str] = records.field(default_factory=dict)

    return Fresh


@pytest.mark.parametrize("frozen", [True, False])
def test_the_first_objects_are_like_those_after_them(frozen):
    kind = fresh(frozen)
    first = kind.__init__
    made = [kind("a", size=2) for _ in range(20)]
    assert kind.__init__ is not first, "many objects are worth an `__init__` of their own"
    assert {(one.name, one.size, str(one.notes)) for one in made} == {("a", 2, "{}")}
    assert len({id(one.notes) for one in made}) == 20


@pytest.mark.parametrize(
    ("args", "named"),
    [
        ((), {}),
        ((), {"size": 1}),
        ((), {"other": 1}),
        ((), {"other": 1, "size": 1, "notes": {}}),
        (("a", 1, {}, 2), {}),
        (("a",), {"other": 1}),
        (("a",), {"name": "b"}),
    ],
)
def test_the_first_object_is_refused_what_does_not_fit(args, named):
    kind = fresh(frozen=True)
    for _ in range(2):
        with pytest.raises(TypeError):
            kind(*args, **named)


def test_equal_fields_make_equal_objects_of_one_class():
    assert Frozen("a", 1) == Frozen("a", 1) != Frozen("a", 2)
    assert Frozen("a", 1, ("long",)) != Longer("a", 1)
    assert Open("a") == Open("a")
    assert Same("a") != Same("a")
    assert hash(Name("a")) == hash(Name("a"))
    assert len({Same("a"), Same("a")}) == 2


def test_what_may_change_is_no_key():
    with pytest.raises(TypeError, match="unhashable"):
        hash(Open("a"))


def test_what_is_frozen_stays_as_it_is():
    made = Frozen("a", 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.name = "b"
    with pytest.raises(dataclasses.FrozenInstanceError):
        del made.name


@pytest.mark.parametrize("made", [Frozen("a", 1, ("x",), {"k": "v"}), Longer("a", 1), Open("a", [1]), Name("a")])
def test_copies_are_equal(made):
    assert copy.copy(made) == copy.deepcopy(made) == pickle.loads(pickle.dumps(made)) == made


def test_replacing_changes_what_is_named():
    for replace in (records.replace, dataclasses.replace):
        assert replace(Longer("a", 1), size=3) == Longer("a", 3)


def test_the_library_takes_them_for_its_own():
    assert dataclasses.is_dataclass(Frozen)
    assert [field.name for field in dataclasses.fields(Longer)] == ["name", "size", "tags", "notes", "more"]
    assert dataclasses.asdict(Open("a", [1])) == {"name": "a", "found": [1]}


def test_they_are_shown_with_their_fields():
    assert repr(Open("a", [1])) == "Open(name='a', found=[1])"


def test_a_leak_is_shown_without_the_keys_that_lead_to_it():
    leak = Leak("/a", "path", "row", "a path", "MUST", "text", 5, segments=("sesame",))
    assert repr(leak) == "Leak(a path, 5 characters)"


def test_a_pattern_takes_the_fields_in_their_order():
    match Frozen("a", 1):
        case Frozen(name, size):
            assert (name, size) == ("a", 1)


def test_one_without_slots_is_refused():
    with pytest.raises(TypeError, match="without slots"):
        records.dataclass(slots=False)
