"""The rules: each has an example that is found and one that is not, and none takes more time than its text is long."""

import json
import random
import string
import time
from typing import Any

import pytest

from pipelines.store.secrets.find import find_secrets
from pipelines.store.secrets.secret_rules import load_rules
from tests.planting import RULES, Planter


def plain(example: str) -> bytes:
    return example.replace("¦", "").encode()


def found_in(text: str) -> list[str]:
    """Return the secrets of a text."""
    data = text.encode()
    return [data[span.start : span.end].decode() for span in find_secrets(data)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["id"])
def test_each_rule_finds_its_true_example_and_passes_its_false_one(rule: dict[str, Any]) -> None:
    assert rule["id"] in {span.rule for span in find_secrets(plain(rule["true"]))}
    assert find_secrets(plain(rule["false"])) == []


def test_rules_are_told_apart_and_whole() -> None:
    ids = [rule["id"] for rule in RULES]
    assert len(ids) == len(set(ids)) > 30
    assert all(rule.get("keywords") or rule.get("words") for rule in RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["id"])
def test_no_example_stands_whole_in_a_file(rule: dict[str, Any]) -> None:
    """Whoever scans this repository for secrets shall find none."""
    assert rule["id"] not in {span.rule for span in find_secrets(rule["true"].encode())} or "¦" in rule["true"]


ISSUED = [(rule.id, start) for rule in load_rules().rules if rule.check == "issued" for start in rule.keywords]
RANDOM = "aws-session-token"
"""Its beginnings are random enough themselves."""


@pytest.mark.parametrize(("name", "start"), ISSUED)
def test_what_says_who_issued_it_is_found_in_prose_if_something_random_follows(name: str, start: str) -> None:
    dice = random.Random(start)
    for alphabet in (string.ascii_letters + string.digits, "0123456789abcdef"):
        token = start + "".join(dice.choice(alphabet) for _ in range(40))
        [found] = find_secrets(f"- 09:12 Ben gave me {token} for the gate".encode())
        assert (found.start, found.end) == (20, 20 + len(token)), (name, token)
    for plain in () if name == RANDOM else ("x" * 40, "_notes_2026-03-18_on_the_gate.md", "-7d9c5b6f4d-x8k2p"):
        assert name not in {span.rule for span in find_secrets(f"see {start}{plain}".encode())}


@pytest.mark.parametrize(("begin", "rule"), [("glpat-us", "gitlab-token"), ("sk-ant-", "anthropic-key")])
def test_keywords_that_overlap_hide_none_of_each_other(begin: str, rule: str) -> None:
    assert [span.rule for span in find_secrets(f"{begin}{'a1B2c3D4e5' * 4} ".encode())] == [rule]


def test_each_word_is_found_wherever_it_stands() -> None:
    rules, dice = load_rules(), random.Random(5)
    words = sorted({(word.lower().encode(), rule.number) for rule in rules.rules for word in rule.words})
    for _ in range(300):
        text = b"".join(dice.choice(words)[0] + dice.choice((b"", b"", b" ")) for _ in range(12))
        sought = {(at, number) for word, number in words for at in range(len(text)) if text.startswith(word, at)}
        assert {(at, rule.number) for at, rule in rules.words.places(text)} == sought, text


def test_a_word_repeated_closely_costs_little_and_hides_nothing_elsewhere() -> None:
    assert find_secrets(b"pwd" * 100_000) == []
    address = b"://ada:kestrel7@db.internal"
    for text in (b"://a@ " * 12 + address, b"://a@" * 90 + b" and then, much later: " * 20 + address):
        assert [span.rule for span in find_secrets(b"x" + text)] == ["url-password"]


def test_a_run_counts_by_what_stands_before_it_even_if_it_was_seen_elsewhere() -> None:
    token = b"Kf3k9Zs1QwErTyUiOpAsDfGh7"
    for text, rules in ((b"see #" + token, []), (b"Ben gave me " + token, ["random-token"])):
        for _ in range(2):
            assert [span.rule for span in find_secrets(text)] == rules


def test_a_token_whose_first_part_is_one_sign_is_found() -> None:
    token = b"1//0gK-f3k9Zs1QwErTyUiOp_AsDfGh-JkLzXcVbNm"
    [span] = find_secrets(b"we refresh with " + token + b" each hour")
    assert (span.rule, span.start) == ("google-refresh-token", 16)


@pytest.mark.parametrize(
    ("rule", "token"),
    [
        ("aws-old-key", "A3TQUC7S3S" + "CTQTD7IGZY"),
        ("dynatrace-token", "dt0c01." + "tm5tq3oczi2kep1pvrjsdoh5." + "0fvkk5j9b0wcww3h" * 4),
        ("besttime-key", "pri_" + "099889f14d114dfaae476569b395eade"),
        ("xata-key", "xau_" + "099889f14d114dfaae476569b395eade"),
        ("xendit-key", "xnd_production_" + "099889f14d114dfaae476569b395eade"),
        ("model-provider-key", "tvly-" + "099889f14d114dfaae476569b395eade"),
        ("trigger-key", "tr_prod_" + "q9Zk3LmP0xTr7Vw2q9Zk"),
        ("zuplo-key", "zpka_" + "099889f14d114dfaae476569b395eade"),
        ("appsync-key", "da2-" + "fenbsqaqujjytldh6vlvgq4jyi"),
        ("paddle-key", "pdl_live_apikey_" + "099889f14d114dfaae476569b395eade"),
    ],
)
def test_a_token_of_a_known_form_is_found_without_a_word_beside_it(rule: str, token: str) -> None:
    assert [span.rule for span in find_secrets(f"Ben gave me {token} for it".encode())] == [rule]


def test_what_only_looks_long_and_odd_is_left_alone() -> None:
    dice = random.Random(3)
    hexed = "".join(dice.choice("0123456789abcdef") for _ in range(40))
    image = "".join(dice.choice(string.ascii_letters + string.digits + "+/") for _ in range(200_000))
    for text in (
        f"commit {hexed}\nMerge: {hexed[:7]} {hexed[7:14]}",
        f"- 09:00 the key question: token {hexed} was it, said {hexed[:12]}",
        "session 3f2a9c1e-77aa-4bcd-9e01-0123456789ab, secret santa on Friday",
        "https://docs.google.com/document/d/1oqXmZ3kQdVZ9bS0v8Yh2Lr5T7uWpNfC4aEgJiKxMnBs/edit#heading=h.3xk2",
        f"![shot](data:image/png;base64,{image})",
        '{"usage":{"input_tokens":12,"cache_creation_input_tokens":12345678},"stop_reason":"max_tokens"}',
        '{"id":"msg_01XFDUDYJgAACzvnptvVoYEL","token_type":"bearer","tokens":["toolu_01A09q90qw90lq917835lq9"]}',
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "password: ask Ben; passwords are rotated monthly; token = get_token(); secret=os.environ['X']",
        "def login(user: str, password: str = DEFAULT_PASSWORD) -> Token: ...",
    ):
        assert find_secrets(text.encode()) == [], text[:80]


@pytest.mark.parametrize(
    "text",
    [
        "Ben gave me Kf3k9Zs1QwErTyUiOpAsDfGh7.",
        "confluence_a=NTk3MjQzOTIyNTAwOtFOuTsHRIp1E81GApKpC2xpEzfz",
        "the gate takes 7ts1czbnd621chpqufnon62o32w0z2iuf15x",
        "it was 'qYaZm3m8+Z2aYAiSDzzvStkTUgZXl29U76lDJ0qiob7bbV4g7kjtwO+FIx=='",
    ],
)
def test_what_looks_random_counts_without_a_known_issuer(text: str) -> None:
    assert [span.rule for span in find_secrets(text.encode())] == ["random-token"]


OPEN = "Kestrel7!x"


@pytest.mark.parametrize(
    "text",
    [
        "Password for encrypted backups: `{}` (kept in `.backup`)",
        "The password for the staging database is {}!",
        "the secret for the webhook: `{}`",
        "密码：{}",
        "- 登录密码是 {}，请保密",
        "| 密碼 | {} |",
        "**口令**：`{}`",
        "Password：{}",
        "パスワードは{}です",
        "비밀번호: {}",
        "Пароль для базы: {}",
        "La contraseña de la base es {}",
        "Mot de passe : {}",
        "Das Passwort lautet {}",
        "Passwort für den Server: {}",
        "Wachtwoord: {}",
        "hasło: {}",
        "DB_PASS={}",
        "smtpPass: '{}'",
        "user: ada, pass: {}",
        "wifi pw: {}",
        "passphrase: {}",
        "machine db.example login ada password {}",
        "user ada, password {}, on the old host",
        "it falls back to the default password '{}'",
        "the root pw is {}",
        "the db password changed to {}",
        "set the password of the gate to {}!",
        "new password {} works",
        "PW {}",
        "password → {}",
        "password (staging): {}",
        "the root password on vm2 = {}",
        "Passwort geändert auf {}.",
        "htpasswd -b users ada {}",
        "CREATE USER ada IDENTIFIED BY '{}';",
        "пароль от сервера: {}",
        "密码改为 {}",
        'setenv("DB_PASS", "{}")',
        "{{'must-pass', '{}'}}",
        '["user", "password", "{}"]',
        "PGPASSWORD={} psql",
        'login("ada",\n      "password",\n      "{}")',
        "<password>{}</password>",
    ],
)
def test_a_password_is_found_in_any_language_and_as_people_write_it_down(text: str) -> None:
    assert found_in(text.format(OPEN)) == [OPEN]


@pytest.mark.parametrize(
    "text", ["db password={}", "the password is {}", "a?password={}&user=ada", "PGPASSWORD={} && ls"]
)
def test_an_ampersand_in_a_password_does_not_cut_it_short(text: str) -> None:
    assert found_in(text.format("S3cr&tPass99!x")) == ["S3cr&tPass99!x"]


@pytest.mark.parametrize(
    "text",
    [
        "- **SSH:** root / {}",
        "SSH: root / `{}` (down)",
        "MySQL user prod: `root` / `{}`",
        "- **Account:** `ada@example.org` / `{}` (store it)",
        "SFTP: ada:{}",
        "postgres user: ada / {}",
    ],
)
@pytest.mark.parametrize("value", ["vT#4kWq9pLmZ", "kp@WqW:BZpW9=4F", "Kestrel.2026zQ"])
def test_a_password_is_found_beside_the_user_of_a_way_in(text: str, value: str) -> None:
    assert found_in(text.format(value)) == [value]


@pytest.mark.parametrize(
    "text",
    ["use token {} for the gate", "API key (prod) is {}", 'curl -H "Authorization: token {}"', "the key on vm2: {}"],
)
def test_a_token_is_found_as_people_write_it_down(text: str) -> None:
    value = "kf3k9zs1QwEr" + "TyUi8Op"
    assert found_in(text.format(value)) == [value]


@pytest.mark.parametrize(
    "text", ["api_secret: {}", "client-secret={}", "API Key：{}", "密钥：{}", "访问令牌: {}", "Schlüssel: {}"]
)
def test_a_key_is_found_in_the_words_of_other_languages(text: str) -> None:
    value = "kf3k9zs1" + "QwErTyUi"
    assert found_in(text.format(value)) == [value]


@pytest.mark.parametrize(
    "text",
    [
        "密码错误：请重新输入，密码不能为空：至少8位，密码长度：12",
        "密钥：见保险库，令牌：已过期，密钥路径：/home/ada/.ssh/id_ed25519",
        "パスワードは変更済み, пароль изменён: да, ключ к успеху: терпение",
        "clé du succès : patience; le mot de passe est obligatoire; contraseña: obligatoria",
        "Das Passwort ist falsch, Schlüssel: liegt bei Mara, Passwort: siehe Tresor",
        "passwords for all of the users: they expire in 90 days, the password for Ada's account is wrong",
        r"{'said': 'Ada has the password for the gate\nStep 2: configure1 and restart'}",
        "token for each request: 4096, secret to success: patience and 8 hours of sleep",
        "--- PASS: TestLogin/with_2fa (0.01s), PASS src/app2.test.ts, pass: test_01_login, 2FA bypass: abc12345",
        "密码替换为 `os.environ.get('VM_PASSWORD')`, the password is now `get_secret(2)`",
        """HF_TOKEN: '@file:/home/ada2/hf_token', (["user", "password"], "Authentication"), ["PASS", "CONSIDER"]""",
        'connect(user, password, "localhost"), connect(user, mongoPass, "bad.host")',
        "Oauth *oauth.Credential2 `json:name2=oauth2`, secret = strings.Trim(found[1]), walletSecret: Uint8Array",
        "the password field2 and the 'password' \"reset\" page, password Northwind2, password manager-2.0",
        "proxy_pass http://backend2; first_pass: 0.9312; pass = compute2(); EMAIL_PASS=${EMAIL_PASS}",
        '"tags":["security","must-pass","role-claim"], inp("New", "", "Current password", "pwCurrent", "text")',
        '[\n  "account",\n  "password",\n  "attempted",\n  "密码",\n  "注意事项"\n]',
        "PWD=/home/ada/src/harbor-2 OLDPWD=/root/.agent/workspace IG_PASSWORD = os.environ['IG_PASSWORD']",
        '"childSessionKey": "agent:main:subagent:e9ca4837-cb6c-411b-a838-1a2b3c4d5e6f", session_key=agent:main:web-3f2',
        "postgres://ada:<password>@localhost:5432/db, mongodb+srv://ada:<db_password>@cluster0.example.net/?w=majority2",
        "postgres://ada:%DB_PASSWORD%@localhost:5432/db, set PASSWORD=%DB_PASSWORD2%",
        "password: !vault |\nPOSTGRES_PASSWORD: ${POSTGRES_PASSWORD:?required}\nshortcut key: Ctrl+Shift+K2",
        "| password | `https://search.example/?q=password+20` | and the file is password-protected: ECMA-376",
    ],
)
def test_what_is_said_of_passwords_in_other_words_is_none(text: str) -> None:
    assert find_secrets(text.encode()) == []


@pytest.mark.parametrize(
    "address",
    [
        "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",  # of BIP 173
        "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",  # of BIP 350
        "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg",  # of NIP 19
    ],
)
def test_an_address_is_public_whatever_it_is_called(address: str) -> None:
    assert find_secrets(f"The wallet {address} pays, API_TOKEN={address}".encode()) == []

    assert find_secrets(f"API_TOKEN=x{address[1:]}".encode())


def test_thirty_two_bytes_in_base58_are_an_address_unless_something_names_a_secret() -> None:
    address = "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"
    assert find_secrets(f"The mint {address} is ours.".encode()) == []
    assert find_secrets(f"The gate opens with {address}9.".encode())
    assert find_secrets(f"secret_key = {address}".encode())


def test_a_private_key_in_the_form_of_an_address_is_secret() -> None:
    key = "nsec1vl029mgpspedva04" + "g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"  # of NIP 19
    assert [span.rule for span in find_secrets(f"We sign with {key} now".encode())] == ["random-token"]


@pytest.mark.parametrize(
    "text",
    [
        "call_TmgpILX7nTKmM4wNK2JlkSxW answered, and agent_msg_01LkKqpUD829m724o5oSeN7M",
        "the sheet is 1OqVVZPawOU_8bakipfUVSrofmiJeJTiAbkZLtaDE20Y",
        "TryIngestA2AEventAsync and x10_Chapter_1_Why_Goal_Set_Now",
        "closed task j575devq4babay8dkmqchfj75h81zjy6, event 01hv3qk5m8x9p2d4r6t7w8y9za is next",
        "publicKeyRawBase64UrlFromPem, readBlockZip64EndOfCentralLocator and convertUtf8ToUtf16BigEndian",
        '{"sessionId":"Kf3k9Zs1QwErTyUiOpAsDfGh7"}',
        "<key>SUPublicEDKey</key><string>IxXWh+jLs25J3FiI4BDhurpau1yHNIK2z33NxJqR4Bc=</string>",
        "SHA256:47DEQpj8HBSaTImW5JCeuQeRkm5NMpJWZG3hSuFU",
        'let titleKey = "custom_title_reindex_v1", key "sk_abcdefghijklmnopqrstuvwxyz123"',
        '{"content":"Find the server in 1Password","status":"pending","why":"it asks for a password.","signature":"x"}',
        r'{"said":"{\"command\":\"pwd\",\"description\": \"Say where we are\"}"}',
        " * [new branch]      fix-secrets-b4NWV -> fix-secrets-b4NWV",
        "PasswordLastSet  : 11/15/2025 10:24:36",
        r"regex = '(secret|password|token|key):\s*[a-zA-Z0-9_\-\.]{16,}'",
        '"token_address": "3G8Nip7WqYkLs2vTzRb9mXcJh5EaPdUfQo4KpumpA1xz"',
        "It pays to 0x325b6A1fC9e84D7bE0a2F53c8B9d1E6f7A4C5430.",
        '"key": "memory:memory/.dreams/session-corpus/2026-05-14.txt:21:21"',
        "The vault of the passwords (ID: xg7lqtwc2tzerycm3eu7zgpwzu)",
    ],
)
def test_what_is_named_as_something_else_is_no_secret(text: str) -> None:
    assert find_secrets(text.encode()) == []


@pytest.mark.parametrize("kind", ["CERTIFICATE", "PUBLIC KEY", "PGP PUBLIC KEY BLOCK", "PGP MESSAGE"])
def test_what_is_published_looks_random_and_is_no_secret(kind: str) -> None:
    rows = Planter(4).key_block().split("\n")[1:-1]
    block = "\n".join((f"-----BEGIN {kind}-----", *rows, f"-----END {kind}-----"))
    assert find_secrets(block.encode()) == find_secrets(json.dumps(block).encode()) == []
    assert find_secrets(f"{block}\nBen gave me {rows[0]}".encode()) != []
    assert find_secrets(block.replace("\n", "\npassword: kestrel-7-b\n", 1).encode()) != []
    told = f"-----BEGIN {kind}----- begins it, as those who have seen one know. Ben put {rows[0]} there"
    for text in (f"{told}\n{block}", f"{told}, and nobody saw it. -----END {kind}-----"):
        assert find_secrets(text.encode()) != []


def test_what_only_resembles_what_is_exempt_is_found() -> None:
    lines = "\n".join(Planter(4).key_block().split("\n")[1:-1])
    kind = "PGP SECRET KEY BLOCK"
    assert find_secrets(f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----".encode()) != []
    assert find_secrets(b"password -> password-kestrel-77x!") != []


RESTS = ("=", ': "', " a1B")
# Every ninth rule's keyword with one of the rests, and all with all behind `make torture`.
WORST = [
    *(
        pytest.param((key + rest).encode(), marks=[pytest.mark.torture] * (number % 27 != 13 * at))
        for number, rule in enumerate(load_rules().rules)
        for key in (*rule.keywords, *rule.words)[:1]
        for at, rest in enumerate(RESTS)
    ),
    b"eyJa.", b"://a:b@", b"-----BEGIN PRIVATE KEY-----", b"\\u0041", b"\\", b"[redacted:x:1234]", b'token="\\"',
    b"curl -u a:", b"<!-- allow-secret -->", b"-----BEGIN PRIVATE KEY-----" + b"A" * 64,
    b"-----END PRIVATE KEY-----" + b"A" * 64, b"-----BEGIN CERTIFICATE----- Kf3k9Zs1QwErTyUiOpAsDfGh7 ",
]  # fmt: skip


@pytest.mark.torture
@pytest.mark.parametrize("unit", WORST, ids=repr)
def test_the_worst_input_takes_time_in_proportion_to_its_length(unit: bytes) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        began = time.process_time()
        find_secrets(text)
        return time.process_time() - began

    seconds(1 << 12)
    small, large = max(seconds(1 << 13), 0.002), min(seconds(1 << 16) for _ in range(2))
    assert large < 40 * small  # eight times as long; the square of it would be 64 times
    assert large < 3.0


@pytest.mark.torture
def test_a_line_of_secrets_takes_time_in_proportion_to_its_length() -> None:
    def seconds(count: int) -> float:
        text = b"API_TOKEN=q9Zk3LmP0xTr7Vw2 " * count
        began = time.process_time()
        assert len(find_secrets(text)) == count
        return time.process_time() - began

    small, large = (min(seconds(count) for _ in range(2)) for count in (1_000, 8_000))
    assert large < 16 * small


@pytest.mark.parametrize("mark", ["one", "two"])
def test_a_mark_exempts_the_lines_of_its_secret_alone(mark: str) -> None:
    key = Planter(1).key_block()
    lines = {"one": f"a {key}", "two": ' and API_TOKEN=q9Zk3LmP0xTr7Vw2\nAPI_TOKEN="q9Zk3LmP0xTr7Vw2"'}
    lines[mark] = f"<!-- allow-secret --> {lines[mark]}"
    found = [span.rule for span in find_secrets("".join(lines.values()).encode())]
    assert found == {"one": ["token", "token"], "two": ["token"]}[mark]


@pytest.mark.parametrize("start", [b"token=", b"password: ", b"eyJ", b"-----BEGIN PRIVATE KEY-----\n", b"://a:", b" "])
def test_one_endless_run_is_no_trouble(start: bytes) -> None:
    began = time.process_time()
    for run in (b"aB3", b"A", b"\\", b'\\"', b"a ", b"\n"):
        find_secrets(start + run * (1 << 16))
    assert time.process_time() - began < 2.5
