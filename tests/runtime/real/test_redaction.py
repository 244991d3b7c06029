"""Nothing secret and no path of a machine reaches the log, the content store or the capture, however it arrives."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_runtime.redaction import Mask, clean, hidden
from reference_runtime.work.real.safe_text import SafeText
from tests.runtime.real.floor import read, shell, write
from validator.readings import matches
from validator.redact import load_patterns

ROWS = [row for row in load_patterns().rows if row.in_text]
HITS = [pytest.param(text, id=f"{row.id}-{place}") for row in ROWS for place, text in enumerate(row.hit)]
NEARS = [pytest.param(text, id=f"{row.id}-{place}") for row in ROWS for place, text in enumerate(row.near)]
SECRETS = [text for row in ROWS if row.kind != "entropy" for text in row.hit]
TOKEN = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
KEY = (
    "-----BEGIN RSA PRIV"
    + "ATE KEY-----\n"
    + "MIIEowIBAAKCAQEAabcdefghij\n" * 20
    + "-----END RSA PRIV"
    + "ATE KEY-----\n"
)


@pytest.mark.parametrize("text", HITS)
def test_the_judge_finds_nothing_in_what_is_left_of_a_leak(text):
    told, kinds = hidden(f"before {text} after")
    assert kinds
    assert matches(told, ROWS) == []


@pytest.mark.parametrize("text", NEARS)
def test_what_only_looks_like_a_leak_stays(text):
    assert hidden(text)[0] == text or matches(text, ROWS)


def test_names_of_fields_say_what_is_hidden_and_ids_stay():
    digest = "q8Wx2Yz7Vb41kLmN0pRsT3uV5wX9"
    payload = {
        "password": "hunter",
        "next_page_token": "two",
        "output_ref": digest,
        "note": digest,
        "cwd": "/usr/lib/x",
    }
    told = clean({"type": "x", "event_id": digest, "payload": payload})
    assert told["event_id"] == digest
    kept = {"next_page_token": "two", "output_ref": digest}
    assert told["payload"] == {"password": "[redacted]", **kept, "note": "[redacted]", "cwd": "[x]"}


class Nothing(Mask):
    """Hides nothing, so that only holding back and letting go is looked at."""

    def __call__(self, text):
        return text, set()


def through(mask, data, cuts):
    """What becomes of bytes that arrive in pieces."""
    safe, told, start = SafeText(mask), "", 0
    for cut in sorted(cuts):
        told, start = told + safe.feed(data[start:cut]), cut
    return told + safe.feed(data[start:]) + safe.end()


OVER_LINES = {
    KEY: "MIIE",
    "access_token:\n0a1B2c3D4e5F6a7B": "0a1B",
    "Author" + "ization:\nBearer abc123def456ghi789": "abc123",
    "machine git.example\n  login bob\n  pass" + "word hunter22": "hunter22",
    "PuTTY-User-Key-" + "File-3: ssh-ed25519\nPrivate-Lines: 1\nAAAAgQCu": "AAAA",
}


@pytest.mark.parametrize("leak", OVER_LINES, ids=lambda leak: leak.split()[0][:12])
def test_a_leak_over_several_lines_is_hidden_wherever_it_is_cut(leak):
    text = f"first\nsee {leak}\nlast\n"
    for cut in range(len(text)):
        told = through(Mask(), text.encode(), [cut])
        assert OVER_LINES[leak] not in told
        assert told.startswith("first\n")


@given(data=st.data(), leak=st.sampled_from(SECRETS), lines=st.integers(0, 12))
def test_a_leak_is_hidden_however_it_is_cut_into_reads(data, leak, lines):
    text = "a line\n" * lines + f"see {leak}\n" + "the end\n"
    cuts = data.draw(st.lists(st.integers(0, len(text.encode())), max_size=6))
    told = through(Mask(), text.encode(), cuts)
    assert matches(told, ROWS) == []
    assert told == through(Mask(), text.encode(), [])


@given(text=st.text(st.characters(exclude_categories=["Cs"])), data=st.data())
def test_what_is_harmless_comes_out_as_it_went_in(text, data):
    raw = text.encode()
    cuts = data.draw(st.lists(st.integers(0, len(raw)), max_size=6))
    assert through(Nothing(), raw, cuts) == text


@pytest.mark.parametrize("size", [100_000, 300_000])
@pytest.mark.parametrize("piece", [9000, 65536])
def test_a_key_that_never_ends_stays_hidden_and_memory_stays_bounded(size, piece):
    endless = KEY[:32] + "\n" + "MIIEowIBAAKCAQEAabcdefghij\n" * (size // 27)
    safe, told, most = SafeText(Mask()), "", 0
    for start in range(0, len(endless), piece):
        told += safe.feed(endless[start : start + piece].encode())
        most = max(most, len(safe._held))
    told += safe.end()
    assert "MIIE" not in told
    assert most < 3 * 65536


def test_a_line_that_never_ends_is_let_go_in_parts_and_hides_a_secret_at_any_seam():
    words = ("x" * 997 + " ") * 70 + TOKEN + " " + ("y" * 997 + " ") * 70
    for piece in (4096, 30_000, 65_536):
        told = through(Mask(), words.encode(), range(0, len(words), piece))
        assert told == words.replace(TOKEN, "[redacted]")


def test_known_secrets_are_hidden_in_their_encodings_and_over_lines():
    mask = Mask((), ("S3cret words\nin two lines", "plain-enough"))
    encoded = base64.b64encode(b"so: plain-enough!").decode()
    text = f"plain-enough {b'plain-enough'.hex()} {encoded}\nS3cret words\nin two lines\n"
    for cuts in ([], [5], [len(text) - 12], [len(text) - 20, len(text) - 3]):
        told = through(mask, text.encode(), cuts)
        assert "in two lines" not in told
        assert told.count("[redacted]") == 4
    assert "plain-enough" not in base64.b64decode(told.split()[2].replace("[redacted]", "") + "==").decode("latin-1")


LEAKY = {
    "a line": f"echo {TOKEN}",
    "two writes": f"printf %s {TOKEN[:12]}; read go; printf '%s\\n' {TOKEN[12:]}",
    "standard error": f"echo {TOKEN} >&2",
    "spilled": f"seq 1 200; echo token {TOKEN}; seq 1 200",
    "first of a spill": f"echo {TOKEN} and a line that is too long to be told in one event of this runtime; seq 1 9",
    "several lines": f"printf '%s' '{KEY[:80]}'; read go; printf '%s' '{KEY[80:]}'",
    "a label and its value": "echo 'access_token:'; read go; echo 0a1B2c3D4e5F6a7B",
    "its name": f"ls '{TOKEN}'",
    "the environment": 'echo "$API_TOKEN"; printf %s "$API_TOKEN" | base64',
    "the environment in hexadecimal": 'printf %s "$API_TOKEN" | od -An -tx1 | tr -d " "',
    "a path": "echo /home/ada/notes.md; cd /; pwd; echo %2Fhome%2Fada",
    "the workspace": "pwd; echo $PWD/made.txt",
    "a terminal": f"echo {TOKEN}",
}


@pytest.mark.parametrize("what", LEAKY)
def test_no_output_leaks(floor, tmp_path, what):
    planted = "q8W-x2Y_z7Vb41-planted"
    one = floor({"environment": {"API_TOKEN": planted}}, output_budget=60)
    one.submit(shell(LEAKY[what], interactive=True, tty=what == "a terminal"))
    one.until("process.started")
    one.bench.live["process_1"].ready(1)
    one.runtime.handle("write_process_stdin", {"process_id": "process_1", "input": "go\n"})
    one.worker.run()
    hexed, based = planted.encode().hex(), base64.b64encode(planted.encode()).decode()[:-4]
    outputs = "".join(event["payload"].get("text", "") for event in one.events("process.output"))
    for secret in (TOKEN, TOKEN[12:], "MIIE", "0a1B2c3D", planted, hexed, based, "/home/ada", "%2Fhome", str(tmp_path)):
        assert secret not in outputs + one.stored() + str(one.events("tool.result", "output.spilled", "tool.failed"))
        assert secret not in one.text.getvalue() or secret in LEAKY[what].replace(TOKEN, "")
    assert one.judged() == []
    assert one.events("process.completed")


def test_stored_output_of_which_something_was_hidden_says_so(floor):
    one = floor({"files": {"secret.txt": TOKEN}}, output_budget=60).run(shell("seq 1 200; cat secret.txt"))
    assert one.said("output.redacted")["redacted_fields"] == ["secret"]
    assert one.said("output.redacted")["output_ref"] == one.said("output.spilled")["output_ref"]
    assert "[redacted]" in one.stored()
    assert one.judged() == []


def test_a_file_with_a_secret_is_read_without_it(floor):
    one = floor({"files": {"config.txt": f"token = {TOKEN}\nplace = /home/ada/x\n" + "line\n" * 40}}, output_budget=60)
    one.run(read("config.txt"))
    assert one.said("output.redacted")["redacted_fields"] == ["path", "secret"]
    assert TOKEN not in one.text.getvalue() + one.stored()
    assert "ada" not in one.text.getvalue() + one.stored()
    assert one.judged() == []


def test_what_is_written_to_a_file_is_told_by_its_size(floor):
    one = floor().run(write("config.txt", f"token = {TOKEN}"))
    assert (one.site.workspace / "config.txt").read_text() == f"token = {TOKEN}"
    assert TOKEN not in one.text.getvalue() + one.stored()
    assert one.judged() == []


def test_a_secret_on_the_command_line_is_not_told(floor):
    one = floor().run(shell(f"curl() {{ cat > /dev/null; }}; echo x | curl -H 'Authorization: Bearer {TOKEN}'"))
    assert TOKEN not in one.text.getvalue() + one.stored()
    assert one.said("process.completed")["exit_code"] == 0
    assert one.judged() == []
