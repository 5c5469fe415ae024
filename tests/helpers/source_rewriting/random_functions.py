"""Random functions of nested choices, loops, jumps and assignments, as text."""

import random


class Writer:
    """Writes a function of two numbers and an array.

    Parameters
    ----------
    seed : int
    """

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = ["def f(a, b, x, c=2):"]
        self.loops = 0

    def text(self):
        """The function's source."""
        captured = self.random.random() < 0.3
        if captured:
            self.lines.append("    g = lambda v: v + a - 2 * b")
        self.block(1, 0, False)
        self.lines.append(f"    return a, b, x{', g(1)' if captured else ''}")
        return "\n".join(self.lines) + "\n"

    def add(self, depth, line):
        self.lines.append("    " * depth + line)

    def block(self, depth, inside, last=True):
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth, inside)
        if last and self.random.random() < 0.35:
            jumps = ["return a, b", "return", "return x"] + (["break", "continue"] * 3 if inside else [])
            self.add(depth, self.random.choice(jumps))

    def statement(self, depth, inside):
        kind = self.random.choice(["assign", "assign", "part", "if", "if", "for", "while"])
        if depth > 4 or len(self.lines) > 40:
            kind = "assign"
        name, value = self.random.choice("abct"), self.value()
        if kind == "assign":
            self.add(depth, f"{name} {self.random.choice(['=', '=', '+='])} {value}")
        elif kind == "part":
            self.add(depth, f"x[{self.random.randint(0, 2)}] {self.random.choice(['=', '-='])} {value}")
        elif kind == "if":
            self.add(depth, f"if {self.condition()}:")
            self.block(depth + 1, inside)
            if self.random.random() < 0.3:
                self.add(depth, f"elif {self.condition()}:")
                self.block(depth + 1, inside)
            if self.random.random() < 0.5:
                self.add(depth, "else:")
                self.block(depth + 1, inside)
        else:
            self.loops += 1
            counter = self.random.choice(["i", f"k{self.loops}"])
            if kind == "for":
                self.add(depth, f"for {counter} in range({self.random.randint(0, 3)}):")
            else:
                counter = f"k{self.loops}"
                self.add(depth, f"{counter} = {self.random.randint(0, 3)}")
                test = self.random.choice([f"{counter} > 0", f"{counter} > 0 and ({self.condition()})", "True"])
                self.add(depth, f"while {test}:")
                self.add(depth + 1, f"{counter} -= 1")
                if test == "True":
                    self.add(depth + 1, f"if {counter} < 0: {self.random.choice(['break', 'return b'])}")
            self.block(depth + 1, inside + 1)
            if self.random.random() < 0.3:
                self.add(depth, "else:")
                self.block(depth + 1, inside)

    def value(self):
        return self.random.choice(
            ["a + 1", "b * 2", "a - b", "c", "t + 1", "x[0] + a", "x[1]", "3", "a if b > a else 7"]
        )

    def condition(self):
        return self.random.choice(
            [
                "a > b",
                "b < 4",
                "a % 3 == 0",
                "x[0] > a",
                "0 < a < b",
                "a > 2 or b > 5",
                "not a % 2",
                "a % 2 and b",
                "c > 3",
            ]
        )
