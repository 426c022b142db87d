"""A label that names a login is enough to redact a readable password; what only looks so stays."""

import pytest

from pipelines.queries.startup.suspicion import suspicious
from pipelines.store.secrets.find import find_secrets
from tests.conftest import Memory

LOGINS = (
    "Auth: admin / Blue¦whale77",
    "Login: me@example.org / Blue¦whale2031!",
    "API key `acme-evolution-¦key-2031`",
    "The API key is `acme-evolution-¦key-2031`.",
    "**API key:** `acme-evolution-¦key-2031`",
    "API key: acme-evolution-¦key-2031",
    "| API key | acme-evolution-¦key-2031 |",
    "- **Login:** admin / Blue¦whale77",
    "- **Auth**: `admin` / `Blue¦whale77`",
    "- 09:12 Login: `admin:Blue¦whale77`",
    "| Login | admin | Blue¦whale77 |",
    "Credentials: me@example.org, Blue¦whale77",
    "creds: ada:Blue¦whale77",
    "Login for staging: admin / Blue¦whale77, ask Mara",
    "Login (staging): admin/Blue¦whale77",
    "user/pass: admin / bluewhale¦77",
    "Username / Password: admin, Blue¦whale77",
    "Basic auth: admin:Blue¦whale2031!",
    "Login: Admin, Blue¦whale2031!",
    '{"text": "Auth: admin / Blue¦whale77"}',
    "The login is admin / Blue¦whale77.",
    "Login `admin` / `Blue¦whale77`",
)


@pytest.mark.parametrize("text", LOGINS)
def test_a_login_is_redacted_and_the_quick_look_knows_it(memory: Memory, text: str) -> None:
    text = text.replace("¦", "")
    assert suspicious(text)
    memory.day("2026-03-17", f"# 2026-03-17\n\n{text}\n")
    log = memory.read("Logs/2026-03-17.md")
    assert "[redacted:" in log
    assert not any(word in log.lower() for word in ("whale", "evolution"))


@pytest.mark.parametrize(
    "text",
    [
        "Login: GitHub / Google",
        "Auth: OAuth / SAML",
        "Auth: OAuth2 / SAML2",
        "Auth: jwt / RS256",
        "Auth: none / scram-sha-256",
        "Login: name / e-mail",
        "Login: /home/ada/login2",
        "Login: https://example.org/login2",
        "Login: src/login.py / src/auth2.py",
        "Login: 2026-03-18 / 2026-03-19",
        "Login: see section 4.2 / appendix B3",
        "Login page: header / Footer2024",
        "Login / logout: tested on Pixel8 / Android14",
        "Login: done, see PR#1234",
        "Login: Google / Office365",
        "Author: ada / Bluewhale77",
        "auth: registry:5000-alpine",
        "API key `API_KEY_2031`",
        "API key id `orders-service-2031-key`",
        "The API key `orders-service-2` expires",
        "API key: see `docs/keys-2031.md`",
        "The API key for claude-haiku-4-5-20251001 is missing",
    ],
)
def test_what_is_no_login_stays(text: str) -> None:
    assert find_secrets(text.encode()) == []
