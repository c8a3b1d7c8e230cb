"""Invisible and look-alike characters. Two names that look alike must be the same name, or one of them is refused."""

import re
import unicodedata
from collections.abc import Iterable

SPACES = "\t \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""White space inside a line. It is removed at the ends of a text, because web pages and spreadsheets add it there."""

_STEERING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
"""Bidirectional categories of characters that change the direction of the text after them."""

_BLANK = "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U0001d159\U000e0000-\U000e0fff]"
"""Invisible characters that `str.isprintable` accepts: fillers, joiners, variation selectors, the blank Braille pattern."""

_FORMULA_SIGNS = "=+-@"
"""First characters of a cell that a spreadsheet reads as a formula."""

_ALIKE = {
    **dict(zip("АВЕЅІЈКМНОРСТУХҮԚԜӀавеѕіјкмнорстухүԛԝӏԁһҺЗзб", "ABESIJKMHOPCTYXYQWlabesijkmhopctyxyqwldhh336", strict=True)),
    **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαβγεζηικμνορστυχωςϳ", "ABEZHIKMNOPTYXabyeznikuvopotuxwcj", strict=True)),
    **dict(zip("ՕՏՍօսհոցզɑɡıȷɩʏᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢ", "OSUouhngqagijiyacdejkmoptuvwz", strict=True)),
    **dict(zip("·∙⋅‧・。⁄∕⧸∶", "......///:", strict=True)),
    **dict.fromkeys("−⁃˗➖ー", "-"),
}
"""Letters and signs of other scripts with the Latin character that they look like. Dashes of Unicode are handled by category."""


def trimmed(text: str) -> str:
    """Return a text without white space at its ends, with accented letters as single characters (normal form C)."""
    return (text if text.isascii() else unicodedata.normalize("NFC", text)).strip(SPACES)


def hidden(text: str) -> str:
    """Return the first invisible character of a text, or "" if all are visible.

    >>> hidden("gpt\\u00a05"), hidden("gpt-5")
    ('\\xa0', '')
    """
    if text.isascii() and text.isprintable():
        return ""
    # A combining mark at the front would be drawn over the character before the text.
    return next(filter(is_hidden, text), text[0] if unicodedata.category(text[0]).startswith("M") else "")


def is_hidden(mark: str) -> bool:
    """Return whether a character is invisible or moves others: controls, joiners, and every space except the plain one."""
    return not mark.isprintable() or re.match(_BLANK, mark) is not None


def mark_in_words(mark: str) -> str:
    """Return a character by number and name, for messages.

    >>> mark_in_words("\\u200b"), mark_in_words("\\x1b")
    ('character U+200B (zero width space)', 'control character U+001B')
    """
    is_control = unicodedata.category(mark) in ("Cc", "Cs") or unicodedata.bidirectional(mark) in _STEERING
    name = unicodedata.name(mark, "").lower()
    return f"{'control ' * is_control}character U+{ord(mark):04X}" + (f" ({name})" if name else "")


def skeleton(name: str) -> str:
    """Return a name in which all look-alikes are the same: dashes, spaces, capitals, letters of other scripts.

    >>> skeleton("GPT\\u20115"), skeleton("g\\u0440t-5"), skeleton("gpt-5")
    ('gpt-5', 'gpt-5', 'gpt-5')
    """
    text = trimmed(name).lower()
    if not text.isascii():
        # Capitals are replaced before they become small: the Greek letter that looks like H has a small form that looks like n.
        text = _replace_look_alikes(_replace_look_alikes(unicodedata.normalize("NFKD", trimmed(name))).lower())
        text = unicodedata.normalize("NFKC", text.replace("i\u0307", "i").replace("j\u0307", "j"))
    return " ".join(text.split())


def _replace_look_alikes(text: str) -> str:
    return "".join("-" if unicodedata.category(mark) == "Pd" else _ALIKE.get(mark, mark) for mark in text)


def width_of(text: str) -> int:
    """Return the width of a text in columns of a terminal: 2 for a wide letter, 0 for a mark over a letter."""
    if text.isascii():
        return len(text)
    drawn = (mark for mark in text if unicodedata.category(mark) not in ("Mn", "Me"))
    return sum(1 + (unicodedata.east_asian_width(mark) in ("W", "F")) for mark in drawn)


def padded(text: str, width: int) -> str:
    """Return the text with spaces after it up to this many columns."""
    return text + " " * (width - width_of(text))


def begins_as_formula(text: str, signs: str = _FORMULA_SIGNS) -> bool:
    """Return whether a spreadsheet may read a cell as a formula. White space in front is ignored, and wide signs count.

    >>> begins_as_formula(" =1+1"), begins_as_formula("a=1"), begins_as_formula("-1", "=@")
    (True, False, False)
    """
    return unicodedata.normalize("NFKC", text.lstrip()[:1]).startswith(tuple(signs))


def is_same(one: str, other: str) -> bool:
    """Return whether two names are equal except for capitals."""
    return one == other or trimmed(one).lower() == trimmed(other).lower()


def look_alike(given: str, known: Iterable[str]) -> str:
    """Return the first known name that looks like another name, or "" if there is none or the name itself is known."""
    drawn = skeleton(given)
    near = [name for name in known if drawn and skeleton(name) == drawn]
    return "" if any(is_same(given, name) for name in near) else next(iter(near), "")
