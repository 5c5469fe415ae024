"""What several tests need."""

import pytest

from nxkernel.graph.expr import parameter
from nxkernel.graph.tracing import Trace


@pytest.fixture
def record():
    """Trace a function on parameters that templates describe; gives what the function returned."""

    def run(function, *templates):
        captured = []

        def capture(tensor):
            captured.append(parameter(len(templates) + len(captured), f"t{len(captured)}", tensor.spec, captured=True))
            return captured[-1]

        with Trace(capture):
            return function(*[parameter(i, f"x{i}", template.spec) for i, template in enumerate(templates)])

    return run
