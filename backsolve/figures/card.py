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
_PALETTE = [round(ink + (paper - ink) * k / (_SHADES - 1)) for k in range(_SHADES) for ink, paper in zip(_INK, _PAPER, strict=True)]
_LETTERS, _LINES = 24, 4
"""Letters in a line of the title, and its most lines."""
_font = cache(ImageFont.load_default)


def card(title: str) -> bytes:
    """Return the card of a page with this title as PNG, the same bytes each time, with the hyperbola of the lecture along its edge."""
    picture = Image.new("L", (_WIDE, _HIGH), _SHADES - 1)
    draw = ImageDraw.Draw(picture)
    lines = "\n".join(wrap(title, _LETTERS, max_lines=_LINES, placeholder=" ..."))
    draw.multiline_text((_MARGIN, _MARGIN / 2), lines, fill=0, font=_font(22), spacing=6)
    draw.text((_MARGIN, _HIGH - 1.5 * _MARGIN), "backsolve", fill=0, font=_font(12))
    # The cost of a token over the batch, 1 + 1 / batch, with the batch from .08 to 8 balance batches.
    half, batches = _WIDE / 2, [0.08 * k for k in range(1, 101)]
    draw.line([(half + (half - _MARGIN) * batch / batches[-1], _HIGH - _MARGIN - 2 / batch) for batch in batches], fill=0, width=3)
    picture.putpalette(_PALETTE)
    out = BytesIO()
    picture.save(out, "PNG", bits=_BITS, optimize=True)
    return out.getvalue()
