"""The words of the outputs, each with one meaning: `backsolve explain WORD` and docs/reference/glossary.md read them.

Quantities have their own registry (derive/quantities), and also the columns of the price tables (invert/report/columns.py).
"""

from collections.abc import Mapping
from types import MappingProxyType

TERMS: Mapping[str, str] = MappingProxyType({
    # A question and its answer.
    "input, given": "A value that you give, with or without a unit.",
    "result": "A quantity that follows from inputs, such as a time, a rate or a cost.",
    "target, targets": "A result that you give with `=`, such as tpot=50ms. The answer meets it or is better.",
    "limit": "A result or an input that you give with <= or >=. The answer stays inside.",
    "default, defaults": "A value that is used because you gave none: a neutral one, such as a factor of 1, or the value of another input.",
    "preset": "The values of a chip or a model in the tables, from --hardware and --model.",
    "supposition": "An assumption with a known alternative, for example bf16 for the KV cache. A warning computes the alternative.",
    "assumption, assumptions, assumed": "A statement that an equation or an estimate needs and that is not proved for your case.",
    "not included": "A time or a cost that the answer leaves out, with its size.",
    "warning": "A supposition or an input that matters, with the size of its effect.",
    "limited by": "The target, or the memory, without which fewer chips or a larger batch would do.",
    "one replica": "The size of one replica, if the answer above it is for all replicas.",
    "matters most": "The range that changes the answer most, with the answer at both of its ends.",
    "cite": "The command that prints a citation of the last equation.",
    "not used": "An input that has no influence on the answer.",
    "not determined": "The inputs leave a quantity open, so no value is printed.",
    "contradiction": "Two inputs cannot be true together. The message names both.",
    "does not fit": "Weights and KV cache need more memory than the chips have. The message names the chips or the batch that would fit.",
    "or more, or less": "The answer is a bound: the true value is at least, or at most, this number.",
    "+1 %, sensitivity": "The change of the answer in percent if one input is 1 % larger and all others stay the same.",
    "regime": "A condition under which one term of a maximum decides, such as memory-bound or compute-bound.",
    # Verdicts on claims.
    "reproduced": "The computed value agrees with the claim.",
    "under a stated convention": "The computed value agrees with the claim in a convention that the reason names.",
    "loose": "The computed value differs from the claim, because the claim rounds or leaves something out.",
    "contradicted by data": "A table with a source has another value.",
    "not decidable": "Neither an equation nor a table decides the claim.",
    # Kinds of equations.
    "definition": "An equation that is true by the meaning of its words.",
    "bound": "An equation for an ideal case. A real system is not better.",
    "estimate": "A value with a range and a reason. As a kind of equation: a sum of times that is not a bound.",
    "condition": ("An equation that is a claim, for example that a price equals a cost. Used only if no other equation answers, or with"
                  " --using."),
    "reading": "A condition that turns a price into a quantity. Two readings of one price are never combined.",
    "rule of thumb, heuristic": "An equation from experience. Used only if no other equation answers, or with --using.",
    "empirical": "An equation that was measured.",
    "variant": "One of several equations for the same quantity. You choose it with --using or an option.",
    # Serving.
    "prefill": "The pass that reads the prompt and fills the KV cache.",
    "decode": "The passes that write the output, one token per sequence and pass.",
    "chunked prefill": "A prompt is computed in parts, each together with a decode step.",
    "speculative decoding": "A small model drafts several tokens, and one pass of the large model verifies them.",
    "roofline": "A step needs at least the longer of its compute time and its memory time.",
    "memory-bound, bandwidth-bound": "Memory time is longer than compute time.",
    "compute-bound": "Compute time is longer than memory time.",
    "KV cache": "Keys and values of all earlier tokens of a sequence, which decode reads for each new token.",
    "KV bytes": "KV cache bytes of one token of context, over all layers.",
    "all-reduce": "Chips with tensor parallelism add their partial results in every layer.",
    "expert dispatch and combine": "Tokens travel to the chips of their experts, and the results travel back.",
    "pipeline bubble": "The time in which a pipeline stage waits.",
    "replication": "Several chips have a copy of the same KV cache.",
    "replica": "A group of chips that serves one copy of the model.",
    "tensor parallelism, tp": "Each layer is divided over several chips.",
    "scale-up domain": "Chips with fast links to each other, such as 8 GPUs with NVLink.",
    "drain time": "The time to read a whole memory once: capacity over bandwidth.",
    # Price sheets.
    "price sheet, sheet": "All prices of one model of one provider, in one region and service tier, on one day.",
    "service tier": "A kind of service with its own prices: standard, batch, flex, priority or off-peak.",
    "band": "A range of prompt lengths with the same prices. The base band starts at 0.",
    "threshold": "The length of prompt above which higher prices apply.",
    "premium": "A price above the threshold over the price of the base band.",
    "increment": "A price above the threshold minus the price of the base band.",
    "anchor": "A fact from outside the sheet, such as the number of active parameters. --anchor replaces it.",
    "flagship": "A model that `infer` shows without --all.",
    "grade": "How good a source is: official, quoted, db (database) or db_host (a host's entry in a database).",
    "forward model": "The equations that compute prices from a model. They check a reading with the prices that it did not use.",
    "missed": "The forward model gives a price outside the rounding of the published price.",
    "met": "The forward model gives a price inside the rounding of the published price.",
    "used": "The reading used this price, so the price does not test it.",
    "convention": "A premium that vendors copy from each other. The Bayes factor compares this with the cost model.",
    "Bayes factor": "How many times more probable the prices are by convention than by cost.",
    "off-peak": "A service tier for the hours of low demand.",
    "introductory": "A price that the vendor announced for a limited time.",
    "stated": "The vendor publishes this value, so it is not estimated.",
    "any": "The prices exclude no memory tier.",
    "no disk": "The prices exclude only the spinning disk.",
    "implied drain time": "The storage time of a token at the price of one read.",
    # Reliability.
    "90 % range, range": "The range that should contain the true value in 9 of 10 cases.",
    "coverage, right before": ("How often ranges of this kind contained the true value, for models whose true value is known, for"
                               " example 9 of 10."),
    "record": "Everything that is known about the errors of an estimator: coverage, gain and log score.",
    "right where known": "The record of a column, on models with a known true value.",
    "never checked, unknown": "No true value is known, so the estimate has no record.",
    "n/a": "This does not apply to the sheet or the row.",
    "trusted": "The ranges contained the true value as often as promised, and the estimator is better than the baseline.",
    "per 1%": "The change of an estimate in percent for 1 % more of the price.",
    "times": "The new value over the old value.",
    "family": "Models of one maker with the same design. In records each family counts once.",
    "leave-one-family-out": "Each family is predicted from all other families.",
    "rolling origin": "Each model is predicted from models that were released before it.",
    "baseline": "The prediction without prices, such as typical KV. An estimator must be better.",
    "log score": "The logarithm of the probability that a prediction gave to the true value. Higher is better.",
    "gain": "Log score minus the log score of the baseline, in nats. A negative gain is worse than the baseline.",
    "nats": "The unit of a natural logarithm. 1 nat is a factor of 2.7.",
    "prior": "The distribution of a quantity before the sheet is read.",
    "posterior": "The distribution of a quantity after the sheet is read.",
    "PRIOR-DOMINATED": "The prices hardly changed the prior.",
    "first pair shown": "The sheet has several thresholds. Readings are of the lowest one (--full: all), and KV from premium is of all.",
    "release not known": "No table has the release date of the model. The day of the price replaces it.",
    "cost optimality": "A rule of the cache tier without a storage price: a cheaper tier is more probable.",
    "extrapolated": "The price is outside the prices of known models.",
    "context assumed": "The longest context of the model is not known, so a usual one is used.",
    "effective sample size": "The number of equal draws that the weighted draws are worth.",
    "Pareto-k": "A check of the weights of the draws. Below 0.7 they can be trusted.",
})  # fmt: skip
"""Meanings by name. Other names follow a comma."""
INSTEAD: Mapping[str, str] = MappingProxyType({
    "active by price": "active_params", "mark-up": "price/cost", "waits for memory": "bandwidth-bound",
    "memory-bound share": "bandwidth-bound", "headline": "typical KV", "class of its time": "typical KV", "priced as": "cache tier",
    "such held": "coverage", "ranges held": "coverage", "count held": "coverage", "foretold": "record", "foresight": "record",
    "vote": "family", "votes": "family", "worth": "record", "judgement": "assumption", "what is taken": "assumption",
    "what stands": "assumption", "left aside": "not used", "given for nothing": "not used", "indifferent": "not determined",
    "what chips add up": "all-reduce", "what rides along": "chunked prefill", "drafts checked": "speculative decoding",
    "touched experts": "activated_experts", "kv copies": "kv_replication", "one markup": "KV from all prices",
    "increment markup": "KV from premium", "input markup": "price/cost",
})  # fmt: skip
"""Words of earlier versions that are no longer used, with the present word for each."""


def term_names() -> list[str]:
    """Return all words that `explain_term` knows."""
    return ", ".join(TERMS).split(", ")


def explain_term(word: str) -> str | None:
    """Return the name and the meaning of a word of the outputs, or None if it is no such word.

    >>> explain_term("All-Reduce")
    'all-reduce: Chips with tensor parallelism add their partial results in every layer.'
    >>> explain_term("batch") is None
    True
    """
    wanted = " ".join(word.lower().split())
    found = (f"{names}: {meaning}" for names, meaning in TERMS.items() if wanted in names.lower().split(", "))
    return next(found, None)
