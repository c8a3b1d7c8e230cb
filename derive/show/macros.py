"""Name every symbol of a formula by a LaTeX command. So a paper can change its notation in one place."""

import re
from collections.abc import Iterable

from derive.quantities import Quantity


def macro(name: str) -> str:
    r"""Return the LaTeX command of a quantity, such as \KvBytesPerToken."""
    return "\\" + "".join(part.capitalize() for part in name.split("_"))


def macro_block(symbols: Iterable[Quantity]) -> str:
    r"""Return the lines that define the commands, each once.

    >>> from derive.quantities import QUANTITIES
    >>> print(macro_block([QUANTITIES["balance_batch"], QUANTITIES["mfu"], QUANTITIES["mfu"]]))
    \newcommand{\BalanceBatch}{B^{\star}}
    \newcommand{\Mfu}{\mathrm{mfu}}
    """
    return "\n".join(rf"\newcommand{{{macro(one.name)}}}{{{one.latex}}}" for one in dict.fromkeys(symbols))


def substitute_macros(latex: str, symbols: Iterable[Quantity]) -> str:
    """Return a formula with commands in place of its symbols."""
    commands = {one.latex: macro(one.name) for one in symbols}
    # The longest first, as t stands in t_m too; any other command of LaTeX stays as it is.
    spelled = "|".join(re.escape(one) for one in sorted(commands, key=len, reverse=True))
    return re.sub(rf"{spelled}|\\[A-Za-z]+", lambda found: commands.get(found[0], found[0]), latex)
