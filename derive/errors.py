"""One class for each kind of mistake, and the words of messages on a wrong name. Every message gives the input and the allowed inputs.

Two names that look alike must be the same name, or one of them is refused: invisible characters and letters of other scripts are named.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

INPUT_IS_WRONG = 2
NO_ANSWER = 3


class BacksolveError(ValueError):
    """Any mistake that this project detects. The command line exits with its `exit_status`."""

    exit_status = INPUT_IS_WRONG


class UnknownName(BacksolveError):
    """A quantity, equation, model, accelerator or option value that does not exist."""

    def __init__(self, kind: str, given: str, allowed: Iterable[str], hint: str = "", meant: Iterable[str] = ()):
        names = [repr(name) for name in meant]
        offered = f"; did you mean {' or '.join(names)}?" if names else suggest(given, allowed)
        super().__init__(f"unknown {kind} {shorten(given)}{unseen(given)}{offered}{hint and '; ' + hint}")


class AmbiguousName(BacksolveError):
    """A word with several meanings. The message lists them, and `why` none of them has an answer."""

    def __init__(self, kind: str, given: str, meant: tuple[str, ...], why: str = ""):
        super().__init__(f"{kind} {shorten(given)} could mean {' or '.join(meant)}: use one of these{why}")
        self.word, self.meant = given, meant


class SeveralNames(BacksolveError):
    """Several words, each without a single meaning. The message has all of them, and on its own line a hint for all."""

    def __init__(self, each: Sequence[BacksolveError], hint: str):
        super().__init__("; ".join(str(one).removesuffix(f"; {hint}") for one in each) + f"\n{hint}")
        self.each = each


class RetiredName(BacksolveError):
    """The id of an equation that was replaced. The message names its successor."""

    def __init__(self, given: str, successor: str, beside: str = ""):
        use = f"{successor!r} with {beside}" if beside else repr(successor)
        super().__init__(f"equation {shorten(given)} was retired; its successor is {use}: backsolve show {successor}")


class WrongUnit(BacksolveError):
    """A value that cannot be read as a value of its quantity."""


class WrongValue(BacksolveError):
    """A number outside the domain of its quantity: zero, negative, not finite or absurd."""


class WrongData(BacksolveError):
    """A file or a row of data that cannot be used. The message names file, row and column."""


class NotCovered(BacksolveError):
    """A known thing without an equation or table in this version."""

    exit_status = NO_ANSWER


class NoRent(NotCovered):
    """A chip without a rent in the tables."""


class NoSingleValue(BacksolveError):
    """A request for the one value of an answer that has no value, several, or a range of them."""

    exit_status = NO_ANSWER


_DRAWN_LIKE = str.maketrans("oil", "011")
"""Letters that are typed instead of digits."""
_SHORT_SYMBOL = 2
_LONGEST_COMPARED = 200
"""Number of letters of a text that are compared with names. Names are less than half as long."""
MOST_MEANT = 3


def suggest(given: str, allowed: Iterable[str], lists: bool = True) -> str:
    """Return `; did you mean 'batch'?` for the nearest allowed names. Otherwise list the allowed names if they are few and it `lists`."""
    from difflib import get_close_matches

    allowed, shows = list(allowed), not hidden(given)
    given = given[:_LONGEST_COMPARED]
    if shows and (meant := look_alike(given, allowed)):
        return f": {mistaken(given, meant)}; did you mean {shorten(meant)}?"
    spelled = {_look_like_digits(name): name for name in reversed(allowed)}
    word = _look_like_digits(given)
    # A symbol of one or two letters is never suggested for a longer word.
    spelled = {name: spelled[name] for name in spelled if len(name) > _SHORT_SYMBOL or len(word) <= _SHORT_SYMBOL}
    whole = [name for name in spelled if name == word or name.startswith(f"{word}-")]
    begun = sorted((name for name in spelled if len(word) > 2 and name.startswith(word)), key=len)
    near = list(dict.fromkeys((*sorted(whole, key=len), *get_close_matches(word, spelled, n=3, cutoff=0.6), *begun)))[:3]
    if near:
        return "; did you mean " + " or ".join(repr(spelled[name]) for name in near) + "?"
    return "; allowed: " + ", ".join(allowed) if lists and 0 < len(allowed) <= 14 else ""


def suggest_for_file(place: str, words: Iterable[str]) -> str:
    """Return `suggest` for words that may replace a file, and an empty text if the text looks like a file name.

    >>> suggest_for_file("shiped", ["shipped"]), suggest_for_file("old/shiped.csv", ["shipped"])
    ("; did you mean 'shipped'?", '')
    """
    return "" if "/" in place or "." in place else suggest(place, words)


def plain_word(text: str) -> str:
    """Return a word in small letters with _ for all other marks, as tables of synonyms have it.

    >>> plain_word("Cached Input"), plain_word("USD/1M tokens")
    ('cached_input', 'usd_1m_tokens')
    """
    return re.sub("[^a-z0-9]+", "_", text.lower()).strip("_")


def _look_like_digits(text: str) -> str:
    """Return a text in small letters, with digits in place of letters that look like them: H1OO and HlOO are H100."""
    return text.lower().translate(_DRAWN_LIKE)


def unseen(text: str) -> str:
    """Return `: it holds the character U+00A0 (no-break space), which is invisible` if a text has a character beyond ASCII."""
    found = hidden(text)
    return "" if found.isascii() else f": it holds the {mark_in_words(found)}, which is invisible"


def mistaken(given: str, known: str) -> str:
    """Return the first character in which a name differs from the known name that it looks like, in words.

    >>> mistaken("gpt\\u20115", "gpt-5")
    "character 4 is U+2011 (non-breaking hyphen) where 'gpt-5' has '-'"
    """
    text, other = trimmed(given), trimmed(known)
    pairs = zip(text.lower(), other.lower(), strict=False)
    at = next((at for at, (one, right) in enumerate(pairs) if one != right), min(len(text), len(other)))
    mark, right = text[at : at + 1], other[at : at + 1]
    what = f"is {mark_in_words(mark).partition('character ')[2]}" if mark else "is lacking"
    shown = repr(right) if right.isascii() else mark_in_words(right).partition("character ")[2]
    return f"character {at + 1} {what} where {shorten(known)} " + (f"has {shown}" if right else "ends")


def shorten(text: str, length: int = 60) -> str:
    """Return a text quoted for a message: control characters escaped, long text cut."""
    quoted = repr(text)
    return quoted if len(quoted) <= length else quoted[: length - 4] + "...'"


# -- invisible and look-alike characters ------------------------------------------------------------------------------

SPACES = "\t \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""White space inside a line. It is removed at the ends of a text, because web pages and spreadsheets add it there."""

_STEERING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
"""Bidirectional categories of characters that change the direction of the text after them."""

_BLANK = "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U0001d159\U000e0000-\U000e0fff]"
"""Invisible characters that `str.isprintable` accepts: fillers, joiners, variation selectors, the blank Braille pattern."""

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


def is_same(one: str, other: str) -> bool:
    """Return whether two names are equal except for capitals."""
    return one == other or trimmed(one).lower() == trimmed(other).lower()


def look_alike(given: str, known: Iterable[str]) -> str:
    """Return the first known name that looks like another name, or "" if there is none or the name itself is known."""
    drawn = skeleton(given)
    near = [name for name in known if drawn and skeleton(name) == drawn]
    return "" if any(is_same(given, name) for name in near) else next(iter(near), "")
