"""The page of price changes: what changed on which day, which estimates it moved, and what new models imply."""

import json
import math

import pytest

from tests.tools.commands import call

HEADER = "provider,model,component,threshold_tokens,amount,effective_date,date_kind,valid_to,release_date,source_url\n"
OWN = HEADER + (
    "acme,old,input,0,2,2026-01-05,start,2026-10-01,2026-01-05,https://acme.example/prices\n"
    "acme,old,output,0,10,2026-01-05,start,,2026-01-05,https://acme.example/prices\n"
    "acme,old,input,0,4,2026-10-01,start,,2026-01-05,https://acme.example/prices\n"
    "acme,band,input,0,2,2026-01-05,start,,2026-01-05,\n"
    "acme,band,output,0,10,2026-01-05,start,,2026-01-05,\n"
    "acme,band,input,200000,4,2026-01-05,start,2026-09-15,2026-01-05,\n"
    "acme,band,output,200000,15,2026-01-05,start,2026-09-15,2026-01-05,\n"
    "acme,new,input,0,1,2026-10-10,start,,2026-10-10,\n"
    "acme,new,output,0,5,2026-10-10,start,,2026-10-10,\n"
    "acme,gone,input,0,1,2026-01-05,start,2026-09-30,2026-01-05,\n"
    "acme,gone,output,0,5,2026-01-05,start,2026-09-30,2026-01-05,\n"
)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("news") / "own.csv"
    path.write_text(OWN)
    return str(path)


def test_the_record_has_the_day_the_source_and_what_moved_by_how_much(own: str):
    """Active parameters go as the input price to the power .595 (market.md's fit A, which other code recomputed)."""
    told = json.loads(call("prices", "news", "--since", "2026-09-01", "--prices", own, "--as", "json").out)
    changed = {one["model"]: one for one in told["changed"] if one["provider"] == "acme"}
    assert set(changed) == {"old", "band"}
    assert changed["old"]["days"] == {"input": "2026-10-01"} and changed["old"]["sources"] == ["https://acme.example/prices"]
    assert set(changed["band"]["days"].values()) == {"2026-09-15"}
    (active,) = (one for one in changed["old"]["moved"] if (one["quantity"], one["estimator"]) == ("active_params", "by_price"))
    assert math.log(active["times"]) / math.log(2) == pytest.approx(0.595, abs=0.02)
    (lecture,) = (
        one for one in changed["band"]["moved"] if (one["quantity"], one["estimator"]) == ("kv_bytes_per_token", "from_threshold")
    )
    assert lecture["before"]["median"] and not (lecture["after"] and lecture["after"]["median"])
    assert ("acme", "new", "2026-10-10") in [(one["provider"], one["model"], one["since"]) for one in told["new"]]
    assert "acme/gone" in [f"{one['provider']}/{one['model']}" for one in told["gone"]]
    assert told["since"] == "2026-09-01" and told["until"] == "2026-11-20"
