"""What a session starts with holds no secret, though no night has been there yet; a plain day costs nothing."""

import pytest

from pipelines.queries.startup.suspicion import suspicious
from pipelines.store.secrets.find import find_secrets
from tests.conftest import Memory
from tests.forking import forked
from tests.planting import RULES, Planter


def test_no_secret_is_taken_for_harmless() -> None:
    for rule in RULES:
        assert suspicious(rule["true"].replace("¦", "")), rule["id"]
        if rule["value"]:
            assert all(suspicious(f"the {word}: Kes-7") for word in rule["words"]), rule["id"]
    assert all(suspicious(one.text) for one in Planter(9).plant(120))


@pytest.mark.parametrize(
    "text",
    [
        "curl --user ada:kes¦trel7x https://example.org",
        "curl -s --user 'ada:kes¦trel7x'",
        "it is QtT8¦Q~9C-_Ij~RouHVpD2Tuf3oHWGh.DQ3kcjbAn",
        "xoxb-¦12345678-Kf3k9Zs1QwErTyUi",
        "https://a.example/c?sv=2022&sig=WSdF9¦Ye%2B%2B1f8ZdD%2BEzEe7fBJ%2Ben9aXQ%2BJ9WO7w0%3D",
        "pscale_oauth_¦fx=qv8tnsid4fu3r4x=m3sxhjy2oqtyuljml=zjg",
        "Ben gave me s3cEZ¦KH3yytiVnJ3h+eI3qhhzf9l1vN/Ei1+q+WGdd+ACRCZ7JD6 there",
        "the staging token - 'KUL9OcajaQ¦2xT'",
        'auth: "aB3dE6¦gH9jK2"',
        "machine db.example login ada password Kes¦trel7!x",
        "Password for the backups of the house in the old town: kes¦trel7",
        "the root pw is kes¦trel-7-gate",
        "PW=kes¦trel-7-gate and smtpPass: 'Kes¦trel7'",
        '{"auth": {"user": "ada", "pass": "Kes¦trel7!x"}}',
        "curl --pass Kes¦trel7!x",
        "密码：Kes¦trel7!x",
        "パスワードはKes¦trel7!xです",
        "Пароль: Kes¦trel7!x",
        "La contraseña es Kes¦trel7!x",
        "Das Kennwort lautet Kes¦trel7!x",
        "Mot de passe : Kes¦trel7!x",
        "API Key：kf3k9zs1¦QwErTyUi",
        "the db password changed to Kes¦trel-9",
        "set the password of the gate to Kes¦tr7!xy",
        "password → kes¦trel7!x",
        "use token kf3k9zs1¦QwErTyUi8 for it",
        "CREATE USER ada IDENTIFIED BY 'kes¦trel7'",
    ],
)
def test_what_the_rules_find_is_suspicious(text: str) -> None:
    text = text.replace("¦", "")
    assert find_secrets(text.encode())
    assert suspicious(text)


def test_a_password_after_a_long_option_never_reaches_the_log(memory: Memory) -> None:
    forked("log", "curl --user ada:kestrel7x https://example.org", "--memory", str(memory.root))
    assert [log for log in (memory.root / "Logs").glob("*.md") if "[redacted:password-option:" in log.read_text()]
    assert not [log for log in (memory.root / "Logs").glob("*.md") if "kestrel7x" in log.read_text()]


@pytest.mark.parametrize(
    "text",
    [
        "- 22:30 **user:** Which? <!-- Sessions/2026-03-17/codex-3f2a9c1e-77aa.jsonl#L1~ab12 -->",
        "- Decision: Use Terraform. <!-- k7f3a9c2b10 since=2026-02-11 trust=self from=Logs/2026-02-11.md#L4~9c1e -->",
        "- 09:00 the key question came up again, and Ben has no token of esteem",
        "- 10:00 read https://example.org/a/b",
        "- 11:00 all tests passed: 12 of 12, passing the upward trend on",
    ],
)
def test_what_days_are_full_of_brings_in_no_library(text: str) -> None:
    assert not suspicious(text)


def test_the_context_shows_neither_secrets_nor_private_parts(memory: Memory) -> None:
    secret = Planter(3).password()
    memory.write(
        "Logs/2026-03-18.md", f"- 09:00 password: {secret}\n- 10:00 at <private>the doctor's</private> till ten\n"
    )
    memory.write("MEMORY.md", f"# Memory\n\nThe door: password={secret}\n")
    told = memory.curate("context", "--now", "2026-03-18T12:00")
    assert secret not in told
    assert "doctor" not in told
    assert "at [private] till ten" in told
    assert told.count("[redacted:password:") == 2
