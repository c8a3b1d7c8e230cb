"""Characters that do not show: two names that look alike must be one name, or one of them is refused by name."""

import re
import unicodedata
from collections.abc import Iterable

SPACES = "\t \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""White space of a line: dropped at the ends of a text, where web pages and spreadsheets leave it."""

_STEERING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
"""Directions that turn the text after them around."""

_BLANK = "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U0001d159\U000e0000-\U000e0fff]"
"""What `str.isprintable` lets pass and no font draws: fillers, joiners, variation selectors, the blank Braille pattern."""

_FORMULA_SIGNS = "=+-@"
"""What a cell begins with that spreadsheets take for a formula."""

_ALIKE = {
    **dict(zip("АВЕЅІЈКМНОРСТУХҮԚԜӀавеѕіјкмнорстухүԛԝӏԁһҺЗзб", "ABESIJKMHOPCTYXYQWlabesijkmhopctyxyqwldhh336", strict=True)),
    **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαβγεζηικμνορστυχωςϳ", "ABEZHIKMNOPTYXabyeznikuvopotuxwcj", strict=True)),
    **dict(zip("ՕՏՍօսհոցզɑɡıȷɩʏᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢ", "OSUouhngqagijiyacdejkmoptuvwz", strict=True)),
    **dict(zip("·∙⋅‧・。⁄∕⧸∶", "......///:", strict=True)),
    **dict.fromkeys("−⁃˗➖ー", "-"),
}
"""Letters and signs of other scripts by the Latin one they are drawn like; every dash Unicode calls one is a "-" too."""


def trimmed(text: str) -> str:
    """The text without white space at its ends, accented letters as single characters (normal form C).

    >>> trimmed("gpt-5\\u00a0"), trimmed("cafe\\u0301") == "caf\\u00e9"
    ('gpt-5', True)
    """
    return (text if text.isascii() else unicodedata.normalize("NFC", text)).strip(SPACES)


def hidden(text: str) -> str:
    """The first character of a text that does not show, or nothing where all of them show.

    >>> hidden("gpt\\u00a05"), hidden("gpt-5")
    ('\\xa0', '')
    """
    if text.isascii() and text.isprintable():
        return ""
    # A combining mark at the front would be drawn over whatever stands before the text.
    return next(filter(is_hidden, text), text[0] if unicodedata.category(text[0]).startswith("M") else "")


def is_hidden(mark: str) -> bool:
    """Whether a character takes no ink, or another place than its own: controls, joiners, every space but the plain one."""
    return not mark.isprintable() or re.match(_BLANK, mark) is not None


def mark_in_words(mark: str) -> str:
    """A character by number and name, as messages have it.

    >>> mark_in_words("\\u200b"), mark_in_words("\\x1b")
    ('character U+200B (zero width space)', 'control character U+001B')
    """
    kind = (
        "control character" if unicodedata.category(mark) in ("Cc", "Cs") or unicodedata.bidirectional(mark) in _STEERING else "character"
    )
    name = unicodedata.name(mark, "").lower()
    return f"{kind} U+{ord(mark):04X}" + (f" ({name})" if name else "")


def skeleton(name: str) -> str:
    """What is left of a name when all that looks alike is made the same: dashes, spaces, capitals, letters of other scripts.

    >>> skeleton("GPT\\u20115"), skeleton("g\\u0440t-5"), skeleton("gpt-5")
    ('gpt-5', 'gpt-5', 'gpt-5')
    """
    text = trimmed(name).lower()
    if not text.isascii():
        # Capitals before they are made small: the Greek letter drawn like H has a small one drawn like n. Accents apart from their letters.
        text = _drawn(_drawn(unicodedata.normalize("NFKD", trimmed(name))).lower())
        text = unicodedata.normalize("NFKC", text.replace("i\u0307", "i").replace("j\u0307", "j"))
    return " ".join(text.split())


def _drawn(text: str) -> str:
    return "".join("-" if unicodedata.category(mark) == "Pd" else _ALIKE.get(mark, mark) for mark in text)


def width_of(text: str) -> int:
    """How many columns of a terminal a text takes: wide letters two, and marks that are drawn over their letter none.

    >>> width_of("gpt-5"), width_of("\\u6a21\\u578b-5"), width_of("cafe\\u0301")
    (5, 6, 4)
    """
    return len(text) if text.isascii() else sum(map(_width_of, text))


def _width_of(mark: str) -> int:
    return 0 if unicodedata.category(mark) in ("Mn", "Me") else 1 + (unicodedata.east_asian_width(mark) in ("W", "F"))


def padded(text: str, width: int) -> str:
    """The text with spaces behind it up to so many columns.

    >>> padded("gpt", 5), padded("\\u6a21\\u578b", 5)
    ('gpt  ', '\\u6a21\\u578b ')
    """
    return text + " " * (width - width_of(text))


def begins_as_formula(text: str, signs: str = _FORMULA_SIGNS) -> bool:
    """Whether a spreadsheet may take a cell for a formula: white space in front is passed over, and wide signs are signs.

    >>> begins_as_formula(" =1+1"), begins_as_formula("\\uff1d1+1"), begins_as_formula("a=1"), begins_as_formula("-1", "=@")
    (True, True, False, False)
    """
    return unicodedata.normalize("NFKC", text.lstrip()[:1]).startswith(tuple(signs))


def is_same(one: str, other: str) -> bool:
    """Whether two names differ in capitals at most."""
    return one == other or trimmed(one).lower() == trimmed(other).lower()


def look_alike(given: str, known: Iterable[str]) -> str:
    """The first known name that a name looks like without being it, or nothing where there is none, or where it is one of them.

    >>> look_alike("gpt\\u20115", ["gpt-4", "gpt-5"]), look_alike("GPT-5", ["gpt-5"])
    ('gpt-5', '')
    """
    drawn = skeleton(given)
    near = [name for name in known if drawn and skeleton(name) == drawn]
    return "" if any(is_same(given, name) for name in near) else next(iter(near), "")
