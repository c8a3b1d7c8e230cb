"""The works the catalogue cites, so that each is spelled once."""

from derive.records import Source

TRANSCRIPT = "https://www.dwarkesh.com/p/reiner-pope"
LECTURE = "The math behind how LLMs are trained and served"
LECTURER = "Reiner Pope, with Dwarkesh Patel"


def talk(start: str, end: str, said: str, encoded: str = "") -> Source:
    """The lecture of 29 April 2026, by video time h:mm:ss."""
    return Source("talk", LECTURE, LECTURER, TRANSCRIPT, said, start=_seconds(start), end=_seconds(end), encoded=encoded)


def flashcard(card: str, said: str, encoded: str = "") -> Source:
    """One of the 27 flashcards published with the lecture, by its number, or by its subject where we have no number."""
    return Source(
        "web", "Flashcards for the Reiner Pope lecture", "Dwarkesh Patel", "https://reiner-flashcards.vercel.app",
        said, page=card, encoded=encoded,
    )  # fmt: skip


def scaling_book(said: str, encoded: str = "") -> Source:
    """The 2026 continuation of the JAX scaling book, on serving DeepSeek-V3."""
    return Source(
        "book", "How to Scale Your Model, section 16: Serving DeepSeek-V3", "JAX scaling book authors",
        "https://jax-ml.github.io/scaling-book", said, page="section 16", encoded=encoded,
    )  # fmt: skip


def scaling_book_inference(said: str, encoded: str = "") -> Source:
    """The chapter of the JAX scaling book on inference."""
    return Source(
        "book", "How to Scale Your Model, section 7: All About Transformer Inference", "Jacob Austin et al.",
        "https://jax-ml.github.io/scaling-book/inference", said, page="section 7, general step time", year=2025, encoded=encoded,
    )  # fmt: skip


def ours(said: str) -> Source:
    """A result worked out for this project; the derivation is the citation."""
    return Source("derivation", "Derived for backsolve", "The backsolve maintainers", "", said, page="this entry")


ROOFLINE_PAPER = Source(
    "paper", "Roofline: an insightful visual performance model for multicore architectures",
    "Samuel Williams, Andrew Waterman, David Patterson", "https://doi.org/10.1145/1498765.1498785",
    "attainable speed is bounded by the slower of arithmetic and memory traffic", page="figure 1", year=2009,
)  # fmt: skip
GQA_PAPER = Source(
    "paper", "GQA: Training generalized multi-query transformer models from multi-head checkpoints",
    "Joshua Ainslie et al.", "https://arxiv.org/abs/2305.13245",
    "groups of query heads share one key and one value head", page="section 2.2", year=2023,
)  # fmt: skip
MLA_PAPER = Source(
    "paper", "DeepSeek-V2: a strong, economical, and efficient mixture-of-experts language model",
    "DeepSeek-AI", "https://arxiv.org/abs/2405.04434",
    "keys and values are compressed into one latent, with a shared rotary key beside it", page="section 2.1", year=2024,
)  # fmt: skip


def _seconds(text: str) -> int:
    hours, minutes, seconds = (int(part) for part in text.split(":"))
    return 3600 * hours + 60 * minutes + seconds
