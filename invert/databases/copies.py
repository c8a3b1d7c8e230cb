"""Sheets that repeat another one: from resellers, and from a model under a second name."""

from collections.abc import Mapping, Sequence

from invert.sheets.names import MAKERS, asks_no_more, bare_name
from invert.sheets.rows import PriceRow, SheetKey


def repeated(own: Mapping[SheetKey, Sequence[PriceRow]], current: Mapping[SheetKey, Sequence[PriceRow]]) -> list[SheetKey]:
    """Return sheets that repeat another one: the sheet of the maker, of the first name of the model, or of the fast tier."""
    asked = {
        key: {(row.component, row.threshold_tokens, row.threshold_inclusive, row.ttl_seconds): row.amount for row in rows}
        for key, rows in current.items()
        if rows
    }
    bands = {key: {row.threshold_tokens for row in rows if row.component == "input"} for key, rows in current.items()}
    by_model: dict[tuple[str, str], list[SheetKey]] = {}
    for key in asked:
        by_model.setdefault((bare_name(key[1]), key[3]), []).append(key)
    found: list[SheetKey] = []
    for key in own:
        if key not in asked:
            continue
        provider, model, region, tier = key
        host = provider.removeprefix("huggingface_")
        kin = [one for one in by_model[bare_name(model), tier] if one != key]
        models_of = [one for one in kin if (one[0] in MAKERS and provider not in MAKERS) or (host != provider and one[0] == host)]
        # Of two names of one model, the shorter one has no date or place.
        names_of = [one for one in kin if one[0] == provider and one[2] == region and (len(one[1]), one[1]) < (len(model), model)]
        renamed = [(provider, model, region, "fast")] if tier == "priority" else []
        if any(
            one in asked and asks_no_more(asked[key], asked[one]) and bands[key] == bands[one] for one in (*models_of, *names_of, *renamed)
        ):
            found.append(key)
    return found
