"""Published fits of the loss law: coefficients and exponents of size and of data, and the floor.

Hoffmann et al. 2022 (arXiv 2203.15556) print the exponents with two digits; Besiroglu et al. 2024 (arXiv 2404.10102)
quote them with four, from the paper's TeX source, and fit the same law again.
"""


def fit(floor: float, of_size: tuple[float, float], of_data: tuple[float, float]) -> dict[str, float]:
    """A fit by the names of the registry; `of_size` and `of_data` are coefficient and exponent."""
    return {
        "irreducible_loss": floor,
        "size_loss_coefficient": of_size[0],
        "size_loss_exponent": of_size[1],
        "data_loss_coefficient": of_data[0],
        "data_loss_exponent": of_data[1],
    }


HOFFMANN = fit(1.69, (406.4, 0.34), (410.7, 0.28))
HOFFMANN_UNROUNDED = fit(1.6934, (406.4, 0.3392), (410.7, 0.2849))
BESIROGLU = fit(1.8172, (482.01, 0.3478), (2085.43, 0.3658))

LECTURE_MODEL = {"active_params": 100e9, "pretrain_tokens": 150e12}
"""The model of the lecture's example and the tokens rumoured for one (talk 1:31:31)."""


def without_floor(one: dict[str, float]) -> dict[str, float]:
    """A fit as the optimum takes it: the floor moves no optimum."""
    return {name: value for name, value in one.items() if name != "irreducible_loss"}
