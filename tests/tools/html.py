"""A page of the site taken apart: whether every element is closed where it must be, and what it links to, loads and names."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input", "col", "wbr", "mspace"}
LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "object": "data", "use": "href", "image": "href"}
"""Elements that make a browser load something, and by which attribute."""


@dataclass
class Parts:
    """What is in a page."""

    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    handlers: list[str] = field(default_factory=list)
    inline_scripts: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    text: str = ""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts, self.open = Parts(), []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if len(found) < len(attrs):
            self.parts.faults.append(f"<{tag}> has an attribute twice")
        self.parts.tags.append(tag)
        self.parts.ids += [found["id"] or ""] if "id" in found else []
        self.parts.handlers += [name for name in found if name.startswith("on") or name == "style"]
        if tag == "a" and "href" in found:
            self.parts.links.append(found["href"] or "")
        if tag in LOADED and LOADED[tag] in found and found.get("rel") != "canonical":
            self.parts.loaded.append(found[LOADED[tag]] or "")
        if tag == "script" and "src" not in found and found.get("type") != "application/json":
            self.parts.inline_scripts.append(self.get_starttag_text() or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.parts.faults.append(f"</{tag}> closes nothing at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        self.parts.text += data


def parts_of(html: str) -> Parts:
    """A page read; `faults` says what is not well-formed of it."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    parts = reader.parts
    parts.faults += [f"<{tag}> is not closed" for tag in reader.open]
    parts.faults += [f"id {id!r} stands twice" for id in {one for one in parts.ids if parts.ids.count(one) > 1}]
    return parts
