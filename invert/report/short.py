"""One sheet on one screen: the readings, advice, published and predicted prices, and the next commands."""

from collections.abc import Iterator

from derive.show.cells import label_lines
from invert.estimate_text import two_digits
from invert.report.columns import short_kv
from invert.report.commands import cite_sheet, infer_in_full
from invert.report.fast_mode import fast_mode_line
from invert.report.prices import grades_and_page, predicted_prices
from invert.report.readings import readings_table
from invert.report.tiers import deciding_source
from invert.result import EXTRAPOLATED, Inference, Run

_SAID = ("one band", "architecture known", "architecture assumed", "KV PRIOR-DOMINATED", "KV given", EXTRAPOLATED)
"""Flags that other lines of the screen already explain."""


def short_parts(one: Inference, table: Run) -> list[str]:
    """Return the report of one screen as paragraphs and tables."""
    sold = "".join(f"; {of.service_tier.replace('_', '-')}: {of.times:.3g}x" for of in table.also_sold(one))
    lines = [*heading(one, table), readings_table(one, table), "", " ".join(advice(one, table)), ""]
    fast = filter(None, [fast_mode_line(one, table)])
    commands = [*label_lines("More", [infer_in_full(one, table)]), *label_lines("Cite", [cite_sheet(one, table, ())])]
    return [*lines, predicted_prices(one), *label_lines("Source", [f"{grades_and_page(one)}{sold}"]), *fast, *commands]


def heading(one: Inference, table: Run) -> list[str]:
    """Name the sheet, and the amounts that replace published ones."""
    sheet = one.sheet
    region = f", {sheet.region}" if sheet.region else ""
    named = f"{sheet.provider} {sheet.model} ({sheet.service_tier}{region}), prices of {sheet.as_of.isoformat()}"
    changed = [
        f"what if: {place} = {amount}, {'where none is published' if one.adds(place) else 'in place of the published amount'}"
        for place, amount in table.changes.items()
    ]
    copied = [f"what if: {place} is {of}, without an amount" for place, of in one.copied.items()]
    return [named, *changed, *copied]


def advice(one: Inference, table: Run) -> Iterator[str]:
    """Recommend an estimate, and list the evidence against the readings, as sentences."""
    verdict, checks = table.premium_verdict, one.pairs[0].missed if one.pairs else None
    if one.contradiction:
        yield one.contradiction
    for names in one.inversion.undetermined:
        said = " and ".join(names).replace("_", " ").replace("kv ", "KV ")
        yield f"These prices do not determine {said}{' one by one' if names[1:] else ''}."
    if one.known:
        yield f"Use {short_kv(one.known.read)}: the architecture is {'public' if one.known.grade == 'verified' else one.known.grade}."
    elif not one.pairs:
        yield "Use the typical KV."
    elif one.kv_bytes["from_premium"].kind == "undetermined":
        below = one.pairs[0].pair.premium_out.value < 1
        why = "the output price of long contexts is below the base price" if below else one.kv_bytes["from_premium"].because
        yield f"Use the typical KV: {why}, so the premium gives no KV."
    elif verdict and not verdict.enters and (record := one.kv_bytes["from_premium"].record):
        better, worse = ("it", "the premium") if record.gain < 0 else ("the premium", "it")
        gain = f"{abs(record.gain):.2g} nats"
        yield f"Use the typical KV: {better} predicts {record.count} known models better than {worse} ({gain})."
    if checks and checks[0]:
        right = checks[1] - checks[0]
        yield f"KV from threshold contradicts bandwidth-bound: together they predict {right} of {checks[1]} other prices."
    if (found := one.convention) and (found.bayes_factor or 0.0) > 1:
        yield f"The premium looks like a convention (Bayes factor {two_digits(found.bayes_factor or 0.0)})."
    if deciding_source(one):
        yield "One database decides the cache tier."
    explained = (*_SAID, one.sheet.service_tier.replace("_", "-"), f"priced in {one.sheet.bands[0].input.currency}")
    if flags := [flag for flag in one.flags if flag not in explained]:
        yield f"Flags: {'; '.join(flags)}."
