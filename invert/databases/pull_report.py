"""The report of `prices pull`: the results for all offers of the databases, and the offers without a row."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from derive.errors import shorten
from derive.show.cells import csv_text
from invert.databases.pull import COPY, KNOWN, TAKEN, Pulled
from invert.sheets.append import Rival, Update

_RIVALS_SHOWN, _NAMES_SHOWN = 10, 3


def left_out_csv(pulled: Pulled) -> str:
    """Return a CSV of the offers without a row, with the reason: priced already, a copy, or not readable."""
    return csv_text(("database", "provider", "model", "region", "service_tier", "because"), (
        {"database": str(one.database), "provider": one.provider, "model": one.model, "region": one.region,
         "service_tier": one.service_tier, "because": one.became}
        for one in pulled.fates if one.became != TAKEN
    )) + "\n"  # fmt: skip


_BECAME = {"added": "added", "changed": "changed", "ended": "ended", "kept": "unchanged"}


def _first_few(names: Iterable[str], most: int = _NAMES_SHOWN, separator: str = ", ") -> str:
    """Return the first names, with three dots if there are more."""
    names = [*names]
    return separator.join([*names[:most], *(["..."] if names[most:] else [])])


def _reasons_text(became: Mapping[str, int]) -> str:
    """Return the most common reasons why offers are left out: ` (216 no price of output tokens; 3 refused amount, as ...)`."""
    counts: Counter[str] = Counter()
    for why, count in became.items():
        counts[why.partition(":")[0]] += count
    # A refused field is a reason only with its first example.
    first = {why.partition(":")[0]: why.partition(": ")[2] for why in reversed([*became])}
    told = _first_few((f"{count} {why}{f', as {first[why]}' if first[why] else ''}" for why, count in counts.most_common()), 4, "; ")
    return f" ({told})" if told else ""


def pull_lines(pulled: Pulled, rivals: Sequence[Rival], into: str | None, update: Update) -> Iterator[str]:
    """Yield the results for the offers of the databases. Every offer is counted once. `update` is the change of the file `into`."""
    by_source = Counter(one.row.notes.partition(" ")[0] for one in rivals)
    for database, became in pulled.offers:
        left_out = {why: count for why, count in became.items() if why not in (TAKEN, KNOWN, COPY)}
        fates = {**{fate: became.get(fate, 0) for fate in (TAKEN, KNOWN, COPY)}, "left out": sum(left_out.values())}
        parts = " + ".join(f"{fate} {count}" for fate, count in fates.items())
        yield f"{database.name}: offers {sum(became.values())} = {parts}{_reasons_text(left_out)}"
    for name in dict.fromkeys(database.name for database, _ in pulled.offers):
        counts = {word: update.counts.get((name, what), 0) for what, word in (*_BECAME.items(), ("other_day", "of other days"))}
        prices = ", ".join(f"{count} {word}" for word, count in counts.items() if count or word != "of other days")
        yield f"{name}: prices: {prices}; {by_source[name]} disagreeing, {pulled.agreeing.get(name, 0)} agreeing with a firmer source"
    counted: dict[str, tuple[int, Iterable[str]]] = {
        "copies: {} of resellers or with a second name, with the same prices as another sheet of the model": (
            sum(pulled.copies.values()), (f"{name} {count}" for name, count in Counter(pulled.copies).most_common()),
        ),
        "names: {} that a spreadsheet would read as a formula, written without the first character": (
            len(pulled.renamed), map(shorten, pulled.renamed),
        ),
        "not found again: {} sheets of an earlier pull, with unchanged prices": (
            len(update.not_met), ("/".join(key[:2]) for key in update.not_met),
        ),
    }  # fmt: skip
    for text, (count, names) in counted.items():
        if count:
            yield text.format(count) + (f" ({named})" if (named := _first_few(names)) else "")
    rest = " (all are in the file of rivals in the same folder)" if into else " (--into lists them all in a file)"
    changes = [f"{'/'.join(change.sheet_key[:2])}: {change}" for change in update.redescribed]
    for head, found, more in (("changed", changes, ""), ("disagreeing", [*map(str, rivals)], rest)):
        for one in found[:_RIVALS_SHOWN]:
            yield f"{head}: {one}"
        if found[_RIVALS_SHOWN:]:
            yield f"{head}: {len(found) - _RIVALS_SHOWN} more{more}"
    if into is not None and not update.held and not update.opened:
        yield f"{into}: no rows to write"
    elif into is not None:
        counts = {what: update.count(what) for what in ("added", "changed", "ended")}
        counts["unchanged"] = update.held - counts["changed"] - counts["ended"]
        rows = update.held + counts["added"] + counts["changed"]
        yield f"{into}: {rows} rows: " + ", ".join(f"{count} {word}" for word, count in counts.items())
