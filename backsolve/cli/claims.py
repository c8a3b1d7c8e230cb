"""The command `claims`: claims and predictions of the lecture, with the computed values."""

import json
import re

import click

from backsolve.cli import options
from backsolve.cli.common import fail_on, tell, tell_rows
from backsolve.streams import in_terminal
from derive.catalogue.searching import corrected, mentions
from derive.errors import UnknownName


@click.command("claims", cls=options.Command)
@options.words("[ID|WORD]...", "claims")
@options.form("text", "json", help="Form of the list.")
def claims_command(words: str, style: str) -> None:
    """List the claims and predictions of the lecture with the stated and the computed value: all, or only the ones with a WORD.

    An ID shows one claim with the command that computes it, its time in the talk, and the reason of the verdict.

    Example:

    \b
    backsolve claims
    backsolve claims prediction
    backsolve claims A13d
    """
    from invert.validation.scoreboard import sections

    found, problems = sections(("claims",))
    rows = found.get("claims", [])
    of_id = re.compile(re.escape(words) + ("[0-9]+[a-z]" if len(words) == 1 else "[a-z]?"), re.IGNORECASE)
    chosen = [row for row in rows if of_id.fullmatch(str(row["id"]))] or _rows_about(words, rows)
    if not chosen and rows:
        names = {name for row in rows for name in (str(row["id"]), *re.findall("[a-z]+", str(row["claim"]).lower()))}
        raise UnknownName("claim", words, names, "backsolve claims lists them")
    if style == "json":
        tell(json.dumps(chosen, indent=2, allow_nan=False), style)
    elif len(chosen) == 1:
        _tell_one(chosen[0])
    else:
        _tell_all(chosen)
    fail_on(problems)


def _rows_about(text: str, rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return the claims with some words, or otherwise with the corrected words."""
    searched = [" ".join(str(row[name]) for name in ("id", "claim", "verdict", "reason", "by", "time", "source")) for row in rows]

    def about(words: str) -> list[dict[str, object]]:
        return [row for row, searched_text in zip(rows, searched, strict=True) if mentions(words, searched_text)]

    return about(text) or about(corrected(text, searched))


def _value(row: dict[str, object], name: str) -> str:
    return "none" if row[name] is None else f"{row[name]} {row['unit']}".rstrip()


def _tell_all(rows: list[dict[str, object]]) -> None:
    def values(row: dict[str, object]) -> str:
        unknown = row["said"] is None and row["found"] is None
        return "" if unknown else f": stated {_value(row, 'said')}, computed {_value(row, 'found')}"

    tell_rows("{:<5} {:<25} {}{}", [(str(row["id"]), str(row["verdict"]), str(row["claim"]), values(row)) for row in rows])
    if in_terminal():
        tell(f"{len(rows)} claims. backsolve claims {rows[0]['id']} shows one with its command, time and reason. Words: explain WORD.")


def _tell_one(row: dict[str, object]) -> None:
    said = {
        f"{row['id']}": row["claim"],
        "stated": _value(row, "said"),
        "computed": _value(row, "found"),
        "verdict": row["verdict"],
        "reason": row["reason"],
        "time": row["time"] or ("not known" if str(row["source"]).startswith("talk") else "none, the source is not the talk"),
        "source": row["source"],
        "from": row["by"],
        "command": row["command"] or ("none, for this reason" if row["found"] is None else f"none, the value is in {row['by']}"),
    }
    for head, text in said.items():
        if text:
            # A command stays on one line, so that it can be copied.
            line = f"{head:<11} {text}"
            click.echo(line) if head == "command" else tell(line)
