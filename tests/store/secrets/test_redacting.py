"""Redaction: what is put in a secret's place, and what stays as it was."""

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.errors import NotWritable
from pipelines.store.secrets.redact import FoundSecret, Redactor, load_redactor, redaction_key, without_secrets
from tests.making import plant
from tests.planting import Planter
from tests.processor_time import watched, within

REDACTOR = Redactor(lambda: b"a key of nobody's")
PLANTED = Planter(1).plant(80)
MARK = re.compile(r"\[redacted:[a-z0-9-]+:[0-9a-f]{4}\]")


@pytest.mark.parametrize("one", PLANTED[:40], ids=lambda one: one.kind)
def test_each_kind_goes_from_text_and_from_json(one: object) -> None:
    assert hasattr(one, "text")
    assert hasattr(one, "parts")
    shown = REDACTOR.redact(f"before\n{one.text}\nafter")
    assert MARK.search(shown.text)
    assert not any(part in shown.text for part in one.parts)
    assert shown.text.count("\n") == one.text.count("\n") + 2
    assert shown.text.startswith("before\n")
    assert shown.text.endswith("\nafter")
    inner = json.dumps({"stdout": one.text, "n": 1})
    for record in ({"text": one.text}, {"text": inner}, {"text": json.dumps({"deep": inner})}):
        line = json.dumps(record).encode() + b"\n"
        clean = REDACTOR.redact_record(line)
        assert not any(json.dumps(part)[1:-1].encode() in clean for part in one.parts), clean
        assert json.loads(clean).keys() == record.keys()
        assert clean.endswith(b"\n")
        assert clean.count(b"\n") == 1


def test_equal_secrets_are_told_equal_and_others_are_not() -> None:
    one, other = (Planter(seed).password() for seed in (1, 2))
    text = REDACTOR.redact(f"password: {one}\nPGPASSWORD={one}\npassword: {other}").text
    first, second, third = MARK.findall(text)
    assert first == second != third
    assert REDACTOR.redact(f"password: {one}").text != Redactor(lambda: b"another key").redact(f"password: {one}").text


def test_what_was_found_is_named_with_its_line() -> None:
    found = REDACTOR.redact("a\nb\npassword: kestrel-7-b").found
    assert [(one.rule, one.line) for one in found] == [("password", 3)]
    assert found == (FoundSecret("password", found[0].tag, 3),)


def test_a_line_that_a_person_marked_passes_and_a_mark_in_a_record_counts_for_nothing() -> None:
    marked = "password: kestrel-7-b <!-- allow-secret -->"
    assert REDACTOR.redact(f"{marked}\npassword: kestrel-7-b").text.startswith(f"{marked}\npassword: [redacted:")
    record = json.dumps({"text": marked}).encode()
    assert b"kestrel-7-b" not in REDACTOR.redact_record(record)


def test_a_key_that_is_cut_off_or_numbered_or_quoted_goes_as_well() -> None:
    block = Planter(4).key_block()
    rows = block.split("\n")
    cut = "\n".join(rows[:4])
    numbered = "\n".join(f"{number:6}→{row}" for number, row in enumerate(rows, 1))
    code = "\n".join(f'    "{row}\\n"' for row in rows)
    for text in (cut, numbered, code, f"> {block}".replace("\n", "\n> "), f"{cut}\n\nand then prose goes on"):
        shown = REDACTOR.redact(text).text
        assert not any(row in shown for row in rows[1:4])
        assert shown.count("\n") == text.count("\n")
        record = REDACTOR.redact_record(json.dumps({"a": text, "b": {"c": "d"}}).encode())
        assert not any(row.encode() in record for row in rows[1:4])
        assert json.loads(record)["b"] == {"c": "d"}
    assert REDACTOR.redact(f"{cut}\n\nand then prose goes on").text.endswith("and then prose goes on")


def test_a_key_whose_beginning_is_cut_off_goes_as_well() -> None:
    rows = Planter(4).key_block().split("\n")
    tail = "\n".join(rows[2:])
    numbered = "\n".join(f"{number:6}→{row}" for number, row in enumerate(rows[2:], 3))
    for text in (f"The last lines of it:\n{tail}\nand that was all", numbered):
        assert not any(row in REDACTOR.redact(text).text for row in rows[2:-1])
        given = {"file": "a" * 50, "a": text, "b": tail, "c": {"d": "e" * 50}}
        record = REDACTOR.redact_record(json.dumps(given).encode())
        assert not any(row.encode() in record for row in rows[2:-1])
        assert json.loads(record) == given | {one: json.loads(record)[one] for one in ("a", "b")}
    assert REDACTOR.redact("It ends with -----END PRIVATE KEY-----.").text == "It ends with -----END PRIVATE KEY-----."


def test_escapes_of_json_hide_nothing() -> None:
    secret = f"ghp_{Planter(5).of('abcdef0123', 36)}"
    escaped = "".join(f"\\u{ord(char):04x}" for char in secret)
    clean = REDACTOR.redact_record(f'{{"text":"see {escaped} \\\\u0041 \\u0022 end"}}'.encode())
    assert "[redacted:github-token:" in json.loads(clean)["text"]
    assert json.loads(clean)["text"].endswith(' \\u0041 " end')
    url = REDACTOR.redact_record(b'{"text":"postgres:\\/\\/ada:kestrel-77@db.internal"}')
    assert b"kestrel-77" not in url


@given(
    st.lists(
        st.one_of(
            st.sampled_from([one.text for one in PLANTED]),
            st.sampled_from(
                ["password", "token", " = ", ": ", '"', "\\", "\n", "[redacted:jwt:0a1b]", "://", "@", "é"]
            ),
            st.text(max_size=20),
        ),
        max_size=8,
    ).map("".join)
)
def test_redacting_twice_is_the_same_as_once_and_json_stays_json(text: str) -> None:
    text = text.encode(errors="replace").decode()
    once = REDACTOR.redact(text).text
    assert REDACTOR.redact(once).text == once
    assert once.count("\n") == text.count("\n")
    line = json.dumps({"a": text, "b": [text]}, ensure_ascii=False).encode()
    clean = REDACTOR.redact_record(line)
    assert REDACTOR.redact_record(clean) == clean
    assert set(json.loads(clean)) == {"a", "b"}


def test_a_backslash_behind_a_secret_stays_whole_in_json() -> None:
    secret = next(one.text for one in PLANTED if one.text.startswith("aws_secret_access_key"))
    clean = REDACTOR.redact_record(json.dumps({"a": f"{secret}\\", "b": f"{secret}\\\\"}).encode())
    assert json.loads(clean)["a"].endswith("]\\")
    assert secret.rpartition(" ")[2].encode() not in clean


@pytest.mark.parametrize("gap", ["\t", " \t", ":\t", "\t:\t", "\t=\t"])
def test_tabs_hide_nothing_in_json(gap: str) -> None:
    told = gap if gap.strip() else f":{gap}"
    assert b"kestrel-7-b" not in REDACTOR.redact_record(json.dumps({"a": f"password{told}kestrel-7-b"}).encode())


@pytest.mark.parametrize("digits", [28, 400])
def test_a_long_number_is_judged_at_once(tmp_path: Path, digits: int) -> None:
    text = f"password: {('1234567890' * 40)[:digits]}+x"
    with watched(), within(5):  # each digit more took longer by half, and the 28th ten seconds
        assert "1234567890" not in load_redactor(tmp_path).redact(text).text


def test_any_bytes_are_a_text() -> None:
    data = b"\xff\xfe password: kestrel-7-b \xe2\x80\x94 end"
    clean, found = REDACTOR.redact_bytes(data)
    assert b"kestrel" not in clean
    assert clean.startswith(b"\xff\xfe password: [redacted:")
    assert clean.endswith(" — end".encode())
    assert len(found) == 1


# ------------------------------------------------------------ the key


def test_the_key_is_made_once_outside_the_memory_for_its_owner_only(tmp_path: Path) -> None:
    place = Path(os.environ["XDG_CONFIG_HOME"], "memcurate")
    redactor = load_redactor(tmp_path)
    redactor.redact("nothing to see")
    assert not place.exists()
    text = redactor.redact("password: kestrel-7-b").text
    key = place / "redaction.key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert place.stat().st_mode & 0o777 == 0o700
    assert load_redactor(tmp_path / "other").redact("password: kestrel-7-b").text == text
    assert not any(tmp_path.rglob("*.key"))
    assert list(place.iterdir()) == [key]


def test_without_a_home_the_key_is_kept_where_nothing_is_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("", ""), ("HOME", "/proc/nowhere"), ("XDG_CONFIG_HOME", "relative")):
        monkeypatch.delenv("HOME", raising=False)
        monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
        if name:
            monkeypatch.setenv(name, value)
        key = redaction_key(tmp_path)
        assert key == (tmp_path / ".curate/redaction.key").read_bytes()
        assert len(key) >= 32
    assert (tmp_path / ".curate/redaction.key").stat().st_mode & 0o777 == 0o600
    plant(tmp_path, "file", "")
    with pytest.raises(NotWritable):
        redaction_key(tmp_path / "file")


def test_the_last_net_needs_no_key() -> None:
    assert without_secrets("password: kestrel-7-b").startswith("password: [redacted:password:")
    assert not Path(os.environ["XDG_CONFIG_HOME"]).exists()


def test_a_secret_in_or_beside_the_comment_of_an_item_is_found() -> None:
    comment = (
        "<!-- k0123456789 since=2026-01-01 trust=self confidence=high from=Logs/2026-01-01.md#L3~1a2b3c4d by=rules@1"
    )
    token = "ghp_" + "Kf3k9Zs1QwErTyUiOpAsDfGhJkLzXcVbNm12"
    for line in (f"- Fact: The gate is red. {comment} -->", f"- Fact: {token} opens it. {comment} -->"):
        clean = REDACTOR.redact(f"{line}\n{line}\n").text
        assert token not in clean
        assert clean.count(f"{comment} -->") == 2
        assert clean.count("[redacted:") == 2 * line.count(token)
    for hidden in (f"{comment} reason={token} -->", f"{comment} status={token} -->", f"{comment} --> {token}"):
        assert token not in REDACTOR.redact(f"- Fact: The gate is red. {hidden}\n").text


def test_a_secret_in_or_beside_the_record_of_a_log_is_found() -> None:
    row = '{"log": "Logs/2026-01-01.md", "file": "0123456789abcdef", "digest": "fedcba9876543210"}'
    token = "ghp_" + "Kf3k9Zs1QwErTyUiOpAsDfGhJkLzXcVbNm12"
    assert REDACTOR.redact(f"{row}\n{row}\n").found == ()
    for hidden in (token, f"{row} {token}", row.replace("fedcba9876543210", token), row.replace("2026-01-01", token)):
        shown = REDACTOR.redact(f"{row}\n{hidden}\n{row}\n").text
        assert token not in shown
        assert shown.count(row) >= 2


@pytest.mark.parametrize(
    "text",
    [
        'error: unexpected token "\\"\n\nTypecheck\tfail\t33s\thttps://ci.example.org/actions/runs/22082551765/job/638105',
        "| ECDSA | Web3Auth | v1.0+ |\n/home/ada/R&D/Docs/TECHNICAL_ARCHITECTURE.md-237-| Ed25519 |",
    ],
)
def test_a_line_end_and_a_quote_of_json_are_no_part_of_a_value(text: str) -> None:
    line = json.dumps({"a": text, "b": "is token", "c": [text]}).encode()
    assert json.loads(REDACTOR.redact_record(line)) == json.loads(line)


@given(
    st.recursive(
        st.one_of(
            st.sampled_from([one.text for one in PLANTED]),
            st.lists(
                st.sampled_from(
                    ["token ", "login | ", "password: ", "1.0+ |", '"', "\\", "\n", "/a-b-7", "!", "é", "'"]
                )
            ).map("".join),
            st.integers(),
        ),
        lambda inner: (
            st.dictionaries(st.sampled_from(["password", "token", "a"]), inner, max_size=3) | inner.map(json.dumps)
        ),
        max_leaves=6,
    )
)
def test_a_record_stays_json_whatever_is_in_it(value: object) -> None:
    clean = REDACTOR.redact_record(json.dumps({"at": 1, "value": value}).encode())
    assert json.loads(clean)["at"] == 1
    assert REDACTOR.redact_record(clean) == clean


@pytest.mark.parametrize(
    "form",
    [
        '{{"a": "cut {}', '{{"a": "x", "b": "cut {} and', "plain {} text", "{{'a': '{}'}}", '{{"a": {}}}', '{} "',
        '"{}" x', '{{"a": "cut \\u0067{}', '{{"a": "b"}} {}',
    ],
)  # fmt: skip
def test_what_is_no_valid_record_holds_no_secret_either(form: str) -> None:
    token = f"ghp_{Planter(3).of('abcdef0123', 36)}"
    said = form.format(token[1:] if "u0067" in form else token).encode()
    assert token[4:].encode() not in REDACTOR.redact_record(said)


@pytest.mark.parametrize("unseen", ["\u00ad", "\u200b", "\u200d", "\u2060", "\ufeff"])
def test_characters_that_nobody_sees_hide_nothing(unseen: str) -> None:
    token = f"ghp_{Planter(3).of('abcdef0123', 36)}"
    hidden = f"a{unseen}b {token[:2]}{unseen}{token[2:9]}{unseen * 2}{token[9:]} ü{unseen}c"
    shown = REDACTOR.redact(hidden).text
    assert MARK.sub("X", shown) == f"a{unseen}b X ü{unseen}c"
    assert MARK.findall(shown) == MARK.findall(REDACTOR.redact(token).text)
    for line in (json.dumps({"a": hidden}), json.dumps({"a": hidden}, ensure_ascii=False)):
        assert MARK.sub("X", json.loads(REDACTOR.redact_record(line.encode()))["a"]).replace(unseen, "") == "ab X üc"


@pytest.mark.parametrize("name", ["Web3AuthOptions", "IWeb3AuthCoreOptions", "hasE2EInjectedToken", "Ed25519Keypair"])
def test_a_name_in_a_program_is_no_token_and_is_not_remembered(tmp_path: Path, name: str) -> None:
    redactor = load_redactor(tmp_path)
    for text in (f"web3AuthOptions: {name}", f"private rootKey: {name}", f"verify the idToken with {name}"):
        assert redactor.redact(text).text == text
    redactor.redact(f"password: '{name}'")
    assert redactor.redact(f"we use {name} here").text == f"we use {name} here"
