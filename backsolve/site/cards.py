"""Draw the social card of a page: its title as a small picture for shared links."""

from functools import cache
from io import BytesIO
from textwrap import wrap

from PIL import Image, ImageDraw, ImageFont

_WIDE, _HIGH = 320, 168
"""Size of a card [px]: networks show one of at least 300 by 157 as a large picture."""
_MARGIN, _INK, _PAPER = 22, (0x21, 0x24, 0x2A), (0xFD, 0xFD, 0xFB)
_SHADES, _BITS = 4, 2
"""Shades from ink to paper, of which a picture of letters needs no more, and the bits that hold one."""
_TITLE, _SITE = (22, 24, 4), (12, 54, 1)
"""Size of letters [px], letters in a line, and most lines."""


def card(title: str) -> bytes:
    """Return the card of a page with this title as PNG, the same bytes each time, with the hyperbola of the lecture along its edge."""
    picture = Image.new("L", (_WIDE, _HIGH), _SHADES - 1)
    draw = ImageDraw.Draw(picture)
    _write(draw, title, _MARGIN, _TITLE)
    _write(draw, "backsolve", _HIGH - 2 * _MARGIN, _SITE)
    draw.line(_hyperbola(), fill=0, width=3)
    picture.putpalette(
        [round(ink + (paper - ink) * k / (_SHADES - 1)) for k in range(_SHADES) for ink, paper in zip(_INK, _PAPER, strict=True)]
    )
    out = BytesIO()
    picture.save(out, "PNG", bits=_BITS, optimize=True)
    return out.getvalue()


def _write(draw: ImageDraw.ImageDraw, text: str, top: int, how: tuple[int, int, int]) -> None:
    """Write a text in lines."""
    size, letters, most = how
    lines = wrap(text, letters, max_lines=most, placeholder=" ...")
    for place, line in enumerate(lines):
        draw.text((_MARGIN, top + place * size * 1.3), line, fill=0, font=_font(size))


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


@cache
def _hyperbola() -> tuple[tuple[float, float], ...]:
    """Return the cost of a token over the batch, 1 + 1 / batch, at the lower right of a card."""
    batches = [0.08 * (1 + step) for step in range(96)]  # times the balance batch
    return tuple((_WIDE / 2 + (_WIDE / 2 - _MARGIN) * batch / batches[-1], _HIGH - _MARGIN - 5 / batch) for batch in batches)
