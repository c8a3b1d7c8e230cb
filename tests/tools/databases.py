"""Small databases of prices, written by hand in the shape of each one, with the oddities of the real ones; all prices are invented."""

import json
import sys
from datetime import UTC, date, time
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

DAY = date(2026, 11, 22)


def tiered(base: str, *tiers: tuple[int, str]) -> Any:
    return SimpleNamespace(base=Decimal(base), tiers=[SimpleNamespace(start=start, price=Decimal(price)) for start, price in tiers])


def mtok(**prices: Any) -> Any:
    return SimpleNamespace(**{f"{name}_mtok": Decimal(price) if isinstance(price, str) else price for name, price in prices.items()})


def model(name: str, prices: Any, variants: Any = None, context: int | None = None) -> Any:
    return SimpleNamespace(id=name, prices=prices, price_variants=variants, context_window=context)


def when(prices: Any, start: date | None = None, hours: tuple[int, int] | None = None) -> Any:
    constraint = SimpleNamespace(start_date=start) if start else None
    if hours:
        constraint = SimpleNamespace(start_time=time(hours[0], tzinfo=UTC), end_time=time(hours[1], tzinfo=UTC))
    return SimpleNamespace(constraint=constraint, prices=prices)


def variant(prices: Any, start: date | None = None, **said: str) -> Any:
    return SimpleNamespace(when=said, prices=prices, constraint=SimpleNamespace(start_date=start) if start else None)


def provider(name: str, *models: Any) -> Any:
    return SimpleNamespace(id=name, models=list(models), pricing_urls=[f"https://{name}.example/prices"])


CHECKED = date(2026, 10, 14)
CLAUDE = mtok(input="3", output="15", cache_read="0.3", cache_write="3.75", cache_write_1h="6")
HALF = mtok(input="1.5", output="7.5", cache_read="0.15", cache_write="1.875", cache_write_1h="3")
GENAI = (
    provider(
        "anthropic",
        model("claude-test-1", CLAUDE, [variant(HALF, CHECKED, processing="batch")], 200_000),
        model("claude-test-1-20260101", CLAUDE, None, 200_000),
    ),
    provider("x-ai", model("grok-test", mtok(input=tiered("3", (199_999, "6")), output=tiered("15", (199_999, "30"))), None, 500_000)),
    provider(
        "google",
        model(
            "gemini-test",
            mtok(input=tiered("1", (200_000, "2")), output=tiered("8", (200_000, "12")), cache_read="0.1"),
            # The cache is not cheaper in batch.
            [variant(mtok(input="0.5", output="4", cache_read="0.1"), CHECKED, processing="batch")],
            1_048_576,
        ),
    ),
    provider(
        "openai",
        model(
            "gpt-test",
            [when(mtok(input="2", output="8")), when(mtok(input="1", output="4"), date(2026, 9, 1))],
            [
                variant(mtok(input="1", output="4"), service_tier="default"),
                variant(mtok(input="2", output="8"), CHECKED, service_tier="priority"),
                variant(mtok(input="2", output="8"), CHECKED, service_tier="fast"),
            ],
            400_000,
        ),
        model("gpt-test-embedding", mtok(input="0.1")),
        model("gpt-test-free", mtok(input="0", output="0")),
    ),
    provider(
        "deepseek",
        model(
            "deepseek-test",
            [
                when(mtok(input="0.2", output="0.8", cache_read="0.02")),
                when(mtok(input="0.1", output="0.4", cache_read="0.01"), date(2026, 8, 17)),
                when(mtok(input="0.2", output="0.8", cache_read="0.02"), hours=(1, 4)),
                when(mtok(input="0.2", output="0.8", cache_read="0.02"), hours=(6, 10)),
            ],
        ),
    ),
    provider("mistral", model("mistral-test", mtok(input="1", output="3"), [variant(mtok(input="1.1", output="3.3"), route="mistral/eu")])),
    provider(
        "openrouter",
        model("anthropic/claude-test-1", CLAUDE),
        model("google/gemini-test", mtok(input="1.5", output="9")),
        model("open/host-test", mtok(input="0.5", output="1.5")),
    ),
)
"""By model: a lifetime of five minutes that nobody names, a second name, a start at 199,999, a full-price cache in batch, dates of
verification, fast beside priority, entries without a price, hours of the day, a route, and copies of a reseller.
"""

LITELLM: dict[str, Any] = {
    "sample_spec": {"litellm_provider": "one of many", "input_cost_per_token": "prose", "mode": "chat"},
    "claude-test-1": {
        "litellm_provider": "anthropic", "mode": "chat", "max_input_tokens": 200_000, "source": "https://anthropic.example/prices",
        "input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05, "cache_read_input_token_cost": 3e-07,
        "cache_creation_input_token_cost": 3.75e-06, "cache_creation_input_token_cost_above_1hr": 6e-06,
        "cache_creation_input_token_cost_above_12hr": 9e-06, "provider_specific_entry": {"fast": 2.0, "us": 1.1},
    },
    "us.anthropic.claude-test-1-20260101-v1:0": {
        "litellm_provider": "bedrock_converse", "mode": "chat", "input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05,
    },
    "gemini/gemini-test": {
        "litellm_provider": "gemini", "mode": "chat", "max_input_tokens": 1_048_576,
        "input_cost_per_token": 1e-06, "input_cost_per_token_above_200k_tokens": 2e-06,
        "output_cost_per_token": 8e-06, "output_cost_per_token_above_200k_tokens": 1.2e-05, "cache_read_input_token_cost": 2e-07,
    },
    "xai/grok-test-2": {
        "litellm_provider": "xai", "mode": "chat", "input_cost_per_token": 7.999999999999999e-07, "output_cost_per_token": 4e-06,
        "input_cost_per_token_above_200k_tokens": 1.6e-06, "output_cost_per_token_above_200k_tokens": 8e-06,
    },
    "gpt-test-2": {
        "litellm_provider": "openai", "mode": "responses", "max_input_tokens": 272_000,
        "input_cost_per_token": 1e-06, "output_cost_per_token": 4e-06, "cache_read_input_token_cost": 1e-07,
        "input_cost_per_token_batches": 5e-07, "output_cost_per_token_batches": 2e-06,
        "input_cost_per_token_priority": 2e-06, "output_cost_per_token_priority": 8e-06,
        "cache_read_input_token_cost_flex": 5e-08,
    },
    "dashscope/qwen-test": {
        "litellm_provider": "dashscope", "mode": "chat",
        "tiered_pricing": [
            {"range": [0, 256000.0], "input_cost_per_token": 4e-07, "output_cost_per_token": 1.2e-06},
            {"range": [256000.0, 1000000.0], "input_cost_per_token": 1.2e-06, "output_cost_per_token": 3.6e-06},
        ],
    },
    "deepseek/deepseek-test-2": {
        "litellm_provider": "deepseek", "mode": "chat", "input_cost_per_token": 3e-07, "output_cost_per_token": 1.2e-06,
        "cache_creation_input_token_cost": 0.0, "cache_read_input_token_cost": 6e-09,
        "off_peak_pricing": {
            "input_cost_per_token": 1.5e-07, "output_cost_per_token": 6e-07, "cache_read_input_token_cost": 3e-09,
            "windows": [
                {"hours_utc": ["00:00-01:00", "04:00-06:00", "10:00-00:00"], "weekdays": [1, 2, 3, 4, 5]},
                {"hours_utc": "00:00-00:00", "weekdays": [6, 7]},
            ],
        },
    },
    "picture-test": {"litellm_provider": "openai", "mode": "image_generation", "output_cost_per_image": 0.04},
}  # fmt: skip

MODELS_DEV: dict[str, Any] = {
    "hostly": {
        "id": "hostly", "doc": "https://hostly.example/models",
        "models": {
            "open-test": {
                "cost": {
                    "input": 5, "output": 30, "cache_read": 0.5, "reasoning": 30,
                    "tiers": [{"input": 10, "output": 45, "cache_read": 1, "tier": {"type": "context", "size": 272_000}}],
                    "context_over_200k": {"input": 10, "output": 45, "cache_read": 1},
                },
                "limit": {"context": 1_050_000, "output": 128_000}, "release_date": "2026-02-19",
            },
            "old-test": {
                "cost": {"input": 3, "output": 15, "context_over_200k": {"input": 6, "output": 22.5}},
                "limit": {"context": 0}, "release_date": "2024-05",
            },
            "unpriced": {"limit": {"context": 8192}},
        },
    },
}  # fmt: skip

OPENROUTER: dict[str, Any] = {
    "data": [
        {
            "id": "hostly/claude-test-9", "context_length": 1_000_000,
            "pricing": {
                "prompt": "0.000003", "completion": "0.000015", "request": "0", "input_cache_read": "0.0000003",
                "input_cache_write": "0.00000375", "input_cache_write_1h": "0.000006",
                "overrides": [{"min_prompt_tokens": 200_000, "prompt": "0.000006", "completion": "0.0000225"}],
            },
        },
        {
            "id": "hostly/hours-test", "context_length": 131_072,
            "pricing": {
                "prompt": "0.000001", "completion": "0.000002",
                "overrides": [{"utc_start": "01:00", "utc_end": "04:00", "prompt": "0.000002", "completion": "0.000004"}],
            },
        },
        {"id": "openrouter/auto", "pricing": {"prompt": "-1", "completion": "-1"}},
        {"id": "hostly/gratis:free", "pricing": {"prompt": "0", "completion": "0"}},
    ]
}  # fmt: skip


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Packages of these names as they would be installed, of the small databases: genai_prices, litellm."""
    for name in names:
        package = folder / name
        package.mkdir()
        (package / "__init__.py").write_text("raise RuntimeError('imported')" if name == "litellm" else "")
        (package / "data_snapshot.py").write_text(
            "from types import SimpleNamespace\nfrom tests.tools.databases import GENAI\n"
            "def get_snapshot():\n    return SimpleNamespace(providers=GENAI)\n"
        )
        (package / "model_prices_and_context_window_backup.json").write_text(json.dumps(LITELLM))
        about = folder / f"{name}-9.9.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 9.9\n")
    for name in ("genai_prices", "genai_prices.data_snapshot", "litellm"):
        monkeypatch.setitem(sys.modules, name, None)  # so that what the test imports goes when it ends
        del sys.modules[name]
    monkeypatch.syspath_prepend(str(folder))
