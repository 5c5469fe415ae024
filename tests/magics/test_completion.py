import pytest

SCALE = "%%defn\ndef scale(x, *, k=2.0):\n    return x * k\n"


@pytest.fixture
def scale(shell):
    shell.run(SCALE)
    return shell


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("%nx ", "inspect timeline cache events options source why help"),
        ("%nx in", "inspect"),
        ("%nx inspect ", "scale --text"),
        ("%nx inspect sc", "scale"),
        ("%nx inspect scale(data) ", "--text"),
        ("%nx source scale ", "--form --kernel"),
        ("%nx events ", "scale -n --kernels"),
        ("%nx cache scale --", "--clear --text"),
        ("%nx timeline ", "scale --text -n"),
        ("%nx options ", "compiler= promotion= checked= threads="),
        ("%nx options compiler=e", "compiler=evaluator"),
        ("%nx why s", "scale"),
        ("%nx help so", "source"),
        ("%%defn ", "--compiler --promotion --show --quiet"),
        ("%%defn --promotion ", "nx numpy"),
        ("%%jit --p", "--promotion"),
        ("%%jit --promotion nu", "numpy"),
        ("%%defn --sh", "--show"),
        ("%%defn --show ", "graph kernels none"),
        ("%%defn --quiet --compiler ", "auto evaluator numba numba_cpu numba_cuda"),
    ],
)
def test_tab_offers_what_may_come(scale, line, found):
    begun = line[: line.rindex(" ") + 1]
    assert scale.complete(line) == [begun + word for word in found.split()]


def test_tab_offers_the_forms_that_kernels_have(scale):
    scale.run("scale(1.0)")
    assert scale.complete("%nx source scale --form ") == [
        f"%nx source scale --form {form}" for form in ("numba", "llvm", "assembly", "module")
    ]
    assert scale.complete("%nx source scale --form l") == ["%nx source scale --form llvm"]


@pytest.mark.parametrize("line", ["%nx inspect scale(da", "%nx inspect scale(x, k=da", "%nx why scale(da"])
def test_arguments_of_a_call_are_completed_as_python(scale, line):
    scale.ns["data"] = 1.0
    assert scale.complete(line) == [f"{line}ta"]


def test_other_lines_are_completed_as_before(scale):
    scale.ns["scaled"] = 1
    assert set(scale.complete("scal")) >= {"scale", "scaled"}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('nx.jit(f, compiler="', "auto evaluator numba numba_cpu numba_cuda"),
        ("@nx.defn(compiler='numba_", "numba_cpu numba_cuda"),
        ('nx.default_options(promotion="n', "nx numpy"),
        ("    promotion='nu", "numpy"),
        ("t = nx.iota((2, 3), type='f", "f16 f32 f64"),
    ],
)
def test_tab_offers_the_values_of_options_in_calls(scale, line, found):
    begun = line[: max(line.rindex("'") if "'" in line else 0, line.rindex('"') if '"' in line else 0) + 1]
    assert scale.complete(line) == [begun + word for word in found.split()]


def test_tab_after_a_definition_offers_what_people_use(scale):
    names = {line.removeprefix("scale.") for line in scale.complete("scale.")}
    assert {"why", "measure", "compilations", "cache_info", "clear_cache", "rules", "compiler"} <= names
    assert names.isdisjoint({"dialect", "donated", "fingerprint", "on_conflict", "ruled_by", "static", "syntax"})


def test_magics_are_offered_by_name(scale):
    assert "%nx" in scale.complete("%n")
    assert "%%defn" in scale.complete("%%de")
