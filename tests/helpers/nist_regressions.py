"""NIST's nonlinear regressions: the data, models and certified values of 27 sets (`nist_regressions.txt`)."""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Regression(NamedTuple):
    """One set: its level of difficulty, two starts, what is certified, and the observations."""

    name: str
    level: str
    starts: tuple[np.ndarray, np.ndarray]
    certified: np.ndarray
    squares: float
    y: np.ndarray
    x: np.ndarray

    def residuals(self, b, x, y):
        """By how much the model misses each observation."""
        return _MODELS[self.name](b, x) - (np.log(y) if self.name == "Nelson" else y)

    def digits(self, found):
        """How many digits of all parameters agree with the certified values, which have 11."""
        error = np.max(np.abs(found - self.certified) / np.abs(self.certified))
        return 11.0 if error == 0 else float(np.clip(-np.log10(error), 0, 11)) if np.isfinite(error) else 0.0


def _gauss(b, x):
    first = b[2] * np.exp(-((x - b[3]) ** 2) / b[4] ** 2)
    return b[0] * np.exp(-b[1] * x) + first + b[5] * np.exp(-((x - b[6]) ** 2) / b[7] ** 2)


def _lanczos(b, x):
    return b[0] * np.exp(-b[1] * x) + b[2] * np.exp(-b[3] * x) + b[4] * np.exp(-b[5] * x)


def _cubic(b, x):
    return (b[0] + b[1] * x + b[2] * x**2 + b[3] * x**3) / (1 + b[4] * x + b[5] * x**2 + b[6] * x**3)


def _waves(b, x):
    angle = 2 * math.pi * x
    year = b[1] * np.cos(angle / 12) + b[2] * np.sin(angle / 12)
    second = b[4] * np.cos(angle / b[3]) + b[5] * np.sin(angle / b[3])
    return b[0] + year + second + b[7] * np.cos(angle / b[6]) + b[8] * np.sin(angle / b[6])


_MODELS = {
    "Bennett5": lambda b, x: b[0] * (b[1] + x) ** (-1 / b[2]),
    "BoxBOD": lambda b, x: b[0] * (1 - np.exp(-b[1] * x)),
    "Chwirut1": lambda b, x: np.exp(-b[0] * x) / (b[1] + b[2] * x),
    "Chwirut2": lambda b, x: np.exp(-b[0] * x) / (b[1] + b[2] * x),
    "DanWood": lambda b, x: b[0] * x ** b[1],
    "ENSO": _waves,
    "Eckerle4": lambda b, x: (b[0] / b[1]) * np.exp(-0.5 * ((x - b[2]) / b[1]) ** 2),
    "Gauss1": _gauss,
    "Gauss2": _gauss,
    "Gauss3": _gauss,
    "Hahn1": _cubic,
    "Kirby2": lambda b, x: (b[0] + b[1] * x + b[2] * x**2) / (1 + b[3] * x + b[4] * x**2),
    "Lanczos1": _lanczos,
    "Lanczos2": _lanczos,
    "Lanczos3": _lanczos,
    "MGH09": lambda b, x: b[0] * (x**2 + x * b[1]) / (x**2 + x * b[2] + b[3]),
    "MGH10": lambda b, x: b[0] * np.exp(b[1] / (x + b[2])),
    "MGH17": lambda b, x: b[0] + b[1] * np.exp(-x * b[3]) + b[2] * np.exp(-x * b[4]),
    "Misra1a": lambda b, x: b[0] * (1 - np.exp(-b[1] * x)),
    "Misra1b": lambda b, x: b[0] * (1 - (1 + b[1] * x / 2) ** -2),
    "Misra1c": lambda b, x: b[0] * (1 - (1 + 2 * b[1] * x) ** -0.5),
    "Misra1d": lambda b, x: b[0] * b[1] * x * (1 + b[1] * x) ** -1,
    "Nelson": lambda b, x: b[0] - b[1] * x[0] * np.exp(-b[2] * x[1]),
    "Rat42": lambda b, x: b[0] / (1 + np.exp(b[1] - b[2] * x)),
    "Rat43": lambda b, x: b[0] / (1 + np.exp(b[1] - b[2] * x)) ** (1 / b[3]),
    "Roszman1": lambda b, x: b[0] - b[1] * x - np.arctan(b[2] / (x - b[3])) / math.pi,
    "Thurber": _cubic,
}


def read() -> list[Regression]:
    """All sets."""
    _, *blocks = Path(__file__).with_suffix(".txt").read_text().strip().split("\n\n")
    return [_regression(block.splitlines()) for block in blocks]


def _regression(lines: list[str]) -> Regression:
    name, level = lines[0].split()
    end = next(place for place, line in enumerate(lines[1:], 1) if "," not in line and len(line.split()) == 1)
    first, second, certified, _ = np.array([line.split() for line in lines[1:end]], float).T
    y, *x = np.array([row.split() for row in " ".join(lines[end + 1 :]).split(",")], float).T
    return Regression(
        name, level, (first, second), certified, float(lines[end]), y, x[0] if len(x) == 1 else np.array(x)
    )
