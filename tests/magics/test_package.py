import subprocess
import sys

import nxkernel
from nxkernel_magics.cells import rewrite_first_line


def test_loading_prints_nothing_and_twice_is_once(bare):
    for _ in range(2):
        ran = bare.run("%reload_ext nxkernel")
        assert (ran.out, ran.err, ran.success) == ("", "", True)
    nxkernel.load_ipython_extension(bare.ip)
    assert bare.ip.input_transformers_cleanup.count(rewrite_first_line) == 1


def test_unloading_leaves_the_shell_as_it_was(bare):
    ip = bare.ip

    def state():
        return (
            sorted(ip.magics_manager.magics["line"]),
            sorted(ip.magics_manager.magics["cell"]),
            len(ip.input_transformers_cleanup),
            len(ip.ast_transformers),
            len(ip.Completer.custom_matchers),
            len(ip.events.callbacks["post_run_cell"]),
        )

    before = state()
    nxkernel.load_ipython_extension(ip)
    assert state() != before
    nxkernel.unload_ipython_extension(ip)
    nxkernel.unload_ipython_extension(ip)
    assert state() == before


def test_the_library_imports_neither_ipython_nor_the_magics():
    script = "import nxkernel, sys; print(sorted({'IPython', 'nxkernel_magics', 'nxkernel_lab'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
