"""Secrets as they stand in logs and transcripts, made anew from a seed: none of them was ever anybody's."""

import base64
import json
import random
import string
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.store.secrets.secret_rules import load_rules

EXAMPLES = tomllib.loads((Path(__file__).parent / "data/secrets.toml").read_text(encoding="utf-8"))
RULES: list[dict[str, Any]] = [
    rule._asdict() | EXAMPLES[rule.id] for rule in load_rules().rules if rule.check != "issued"
]
"""The rules for secrets, each with its `true` and `false` example."""
_HEX = "0123456789abcdef"
_WORD = string.ascii_letters + string.digits


@dataclass(frozen=True)
class Planted:
    """A secret and the text in which it stands; `parts` are what must be found nowhere afterwards."""

    kind: str
    text: str
    parts: tuple[str, ...]


class Planter:
    """Makes secrets, the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)

    def of(self, alphabet: str, count: int) -> str:
        return "".join(self._dice.choice(alphabet) for _ in range(count))

    def password(self) -> str:
        words = ("kestrel", "harbor", "Granite", "walnut", "Copper", "ember")
        return (
            f"{self._dice.choice(words)}{self._dice.choice('-_!.+')}{self._dice.randrange(10, 9999)}{self.of(_WORD, 2)}"
        )

    def plant(self, count: int) -> list[Planted]:
        """Return so many, every kind in turn."""
        kinds = list(self._kinds().items())
        return [self._planted(*kinds[number % len(kinds)]) for number in range(count)]

    def _planted(self, kind: str, made: tuple[Callable[[], str], str]) -> Planted:
        make, text = made
        secret = make()
        parts = tuple(line for line in secret.split("\n") if not line.startswith("-----"))
        return Planted(kind, text.replace("@@", secret), parts)

    def key_block(self) -> str:
        rows = [base64.b64encode(self._dice.randbytes(48)).decode() for _ in range(4)]
        return "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *rows, "-----END RSA PRIVATE KEY-----"])

    def jwt(self) -> str:
        parts = [{"alg": "HS256", "typ": "JWT"}, {"sub": self.of(_HEX, 8), "exp": self._dice.randrange(10**9)}]
        told = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
        return ".".join([*told, self.of(_WORD + "-_", 43)])

    def _basic(self) -> str:
        return base64.b64encode(f"ada:{self.password()}".encode()).decode()

    def _kinds(self) -> dict[str, tuple[Callable[[], str], str]]:
        of = self.of
        upper = string.ascii_uppercase + "234567"
        return {
            "aws id": (lambda: f"AKIA{of(upper, 16)}", "the deploy user has @@ now"),
            "aws secret": (lambda: of(_WORD + "/+", 40), "aws_secret_access_key = @@"),
            "github": (lambda: f"ghp_{of(_WORD, 36)}", "git clone https://x-access-token:@@@github.com/ada/harbor"),
            "github pat": (lambda: f"github_pat_{of(_WORD + '_', 82)}", "gh auth: @@"),
            "gitlab": (lambda: f"glpat-{of(_WORD, 20)}", "GITLAB=@@ glab repo list"),
            "slack": (lambda: f"xoxb-{of('123456789', 12)}-{of(_WORD, 24)}", "the bot runs with @@"),
            "slack hook": (
                lambda: f"T{of(_HEX, 8)}/B{of(_HEX, 8)}/{of(_WORD, 24)}",
                "https://hooks.slack.com/services/@@",
            ),
            "stripe": (lambda: f"sk_live_{of(_WORD, 24)}", "stripe listen --key @@"),
            "openai": (lambda: f"sk-proj-{of(_WORD, 48)}", 'client = OpenAI("@@")'),
            "anthropic": (lambda: f"sk-ant-api03-{of(_WORD + '-_', 90)}AA", "x-api-key: @@"),
            "google": (lambda: f"AIza{of(_WORD + '-_', 35)}", "https://maps.example.org/js?key=@@&v=3"),
            "hugging face": (lambda: f"hf_{of(string.ascii_letters, 34)}", "logged in with @@"),
            "npm": (lambda: f"npm_{of(_WORD, 36)}", "//registry.npmjs.org/:_authToken=@@"),
            "pypi": (lambda: f"pypi-AgEIcHlwaS5vcmc{of(_WORD + '-_', 80)}", "twine upload -u __token__ with @@"),
            "sendgrid": (lambda: f"SG.{of(_WORD, 22)}.{of(_WORD, 43)}", "mail goes out by @@"),
            "twilio": (lambda: f"SK{of(_HEX, 32)}", "twilio says @@"),
            "telegram": (
                lambda: f"{of('123456789', 10)}:AA{of(_WORD + '-_', 33)}",
                "https://api.telegram.org/bot@@/getMe",
            ),
            "discord hook": (lambda: of(_WORD + "-_", 68), "https://discord.com/api/webhooks/123456789012345678/@@"),
            "vault": (lambda: f"hvs.CAESI{of(_WORD, 40)}", "export VAULT=@@"),
            "docker": (lambda: f"dckr_pat_{of(_WORD, 27)}", "docker login -u ada with @@"),
            "azure": (lambda: f"{of(_WORD + '/+', 86)}==", "DefaultEndpointsProtocol=https;AccountKey=@@;X=1"),
            "jwt": (self.jwt, "the session cookie is @@ today"),
            "bearer": (lambda: of(_WORD, 32), "curl -H 'Authorization: Bearer @@' https://example.org/v1"),
            "basic": (self._basic, "Authorization: Basic @@"),
            "postgres": (self.password, "DATABASE=postgres://ada:@@@db.internal:5432/orders"),
            "mongo": (self.password, "mongodb+srv://svc-orders:@@@cluster0.example.net/?retryWrites=true"),
            "redis": (self.password, "redis://:@@@cache:6379/0"),
            "environment": (self.password, "PGPASSWORD=@@ psql -h db.internal"),
            "assigned": (self.password, 'password = "@@"'),
            "yaml": (self.password, "db_password: @@"),
            "flag": (self.password, "mysqldump --password=@@ orders"),
            "said": (self.password, "the admin password is @@ until Monday"),
            "markdown": (self.password, "**Password:** `@@`"),
            "json": (lambda: of(_WORD, 32), '{"api_key": "@@", "region": "eu"}'),
            "camel": (lambda: of(_HEX, 40), '{"clientSecret":"@@"}'),
            "query": (lambda: of(_WORD, 30), "GET /v1/items?access_token=@@&page=2"),
            "curl": (self.password, "curl -s -u ada:@@ https://example.org/private"),
            "block": (self.key_block, "@@"),
            "near": (lambda: of(_WORD, 32), "here is the token for the gate, from Ben: @@"),
            "dotenv": (lambda: of(_HEX, 32), "STRIPE_WEBHOOK_SECRET=@@"),
        }
