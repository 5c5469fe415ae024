"""Losses against their formulas in NumPy."""

import itertools

import numpy as np
import pytest
from scipy import special

import nxkernel as nx
from nxkernel import nn

RANDOM = np.random.default_rng(8)
TRUTH, FOUND = RANDOM.standard_normal((5, 4)), RANDOM.standard_normal((5, 4))
SIGNS = np.sign(TRUTH)
CLASSES = RANDOM.integers(0, 4, 5)
ONE_HOT = np.eye(4)[CLASSES]
LIKELY = special.softmax(FOUND, axis=-1)
L = nn.losses

FORMULAS = {
    "mean_squared_error": (TRUTH, FOUND, ((TRUTH - FOUND) ** 2).mean(-1)),
    "mean_absolute_error": (TRUTH, FOUND, np.abs(TRUTH - FOUND).mean(-1)),
    "huber": (TRUTH, FOUND, special.huber(1.0, TRUTH - FOUND)),
    "log_cosh": (TRUTH, FOUND, np.log(np.cosh(FOUND - TRUTH)).mean(-1)),
    "binary_cross_entropy": (
        ONE_HOT,
        LIKELY,
        -(special.xlogy(ONE_HOT, LIKELY) + special.xlogy(1 - ONE_HOT, 1 - LIKELY)).mean(-1),
    ),
    "categorical_cross_entropy": (ONE_HOT, LIKELY, -np.log((LIKELY * ONE_HOT).sum(-1))),
    "sparse_categorical_cross_entropy": (CLASSES, LIKELY, -np.log((LIKELY * ONE_HOT).sum(-1))),
    "hinge": (SIGNS, FOUND, np.maximum(1 - SIGNS * FOUND, 0).mean(-1)),
    "categorical_hinge": (
        ONE_HOT,
        FOUND,
        np.maximum(((1 - ONE_HOT) * FOUND).max(-1) - (ONE_HOT * FOUND).sum(-1) + 1, 0),
    ),
    "soft_margin": (SIGNS, FOUND, np.log1p(np.exp(-SIGNS * FOUND)).mean(-1)),
    "kl_divergence": (LIKELY[::-1], LIKELY, special.rel_entr(LIKELY[::-1], LIKELY).sum(-1)),
    "poisson": (np.abs(TRUTH), np.abs(FOUND), (np.abs(FOUND) - np.abs(TRUTH) * np.log(np.abs(FOUND) + 1e-7)).mean(-1)),
    "cosine_similarity": (
        TRUTH,
        FOUND,
        -(TRUTH * FOUND).sum(-1) / np.linalg.norm(TRUTH, axis=-1) / np.linalg.norm(FOUND, axis=-1),
    ),
}


def test_every_loss_is_tested_here():
    assert sorted([*FORMULAS, "ctc", "margin_ranking"]) == sorted(L.__all__)


@pytest.mark.parametrize("name", FORMULAS)
def test_values_and_reductions(name):
    loss, (truth, found, expected) = getattr(L, name), FORMULAS[name]
    np.testing.assert_allclose(loss(truth, found, reduction="none"), expected, rtol=1e-6, atol=1e-9)
    assert float(loss(truth, found, reduction="sum")) == pytest.approx(expected.sum(), rel=1e-6)
    assert float(loss(truth, found)) == pytest.approx(expected.mean(), rel=1e-6)
    with pytest.raises(ValueError, match="reduction is 'mean', 'sum' or 'none', got 'max'"):
        loss(truth, found, reduction="max")


@pytest.mark.parametrize("name", FORMULAS)
def test_gradients(name):
    loss, (truth, found, _) = getattr(L, name), FORMULAS[name]
    slope = nx.grad(lambda found: loss(truth, found))(found).to_numpy()
    for place in ((0, 0), (2, 3), (4, 1)):
        step = np.zeros(found.shape)
        step[place] = 1e-6
        up, down = float(loss(truth, found + step)), float(loss(truth, found - step))
        assert slope[place] == pytest.approx((up - down) / 2e-6, rel=1e-4, abs=1e-8)


def test_logits():
    log_likely = special.log_softmax(FOUND, axis=-1)
    expected = -(log_likely * ONE_HOT).sum(-1)
    found = L.categorical_cross_entropy(ONE_HOT, FOUND, from_logits=True, reduction="none")
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    found = L.sparse_categorical_cross_entropy(CLASSES, FOUND, from_logits=True, reduction="none")
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    both = -(ONE_HOT * special.log_expit(FOUND) + (1 - ONE_HOT) * special.log_expit(-FOUND)).mean(-1)
    found = L.binary_cross_entropy(ONE_HOT, FOUND, from_logits=True, reduction="none")
    np.testing.assert_allclose(found, both, rtol=1e-9)


def test_logits_are_exact_where_probabilities_are_not():
    far = nx.tensor([[200.0, -200.0]])
    assert L.sparse_categorical_cross_entropy(nx.tensor([1]), far, from_logits=True).to_number() == 400.0
    assert L.binary_cross_entropy(nx.tensor([[0, 1]]), far, from_logits=True).to_number() == 200.0
    slope = nx.grad(lambda x: L.binary_cross_entropy(nx.tensor([[0, 1]]), x, from_logits=True))(far)
    assert slope.to_list() == [[0.5, -0.5]]


def test_logits_of_zero_have_a_slope():
    truth, zeros = np.array([1.0, 0.0]), np.zeros(2)
    for loss in (
        lambda z: nn.losses.binary_cross_entropy(truth, z, from_logits=True),
        lambda z: nn.losses.soft_margin(2 * truth - 1, z),
    ):
        np.testing.assert_allclose(nx.grad(loss)(zeros), [-0.25, 0.25])
    np.testing.assert_array_equal(nx.grad(lambda z: nn.losses.log_cosh(zeros, z))(zeros), zeros)


def test_smoothing_and_weights():
    smooth = ONE_HOT * 0.8 + 0.05
    found = L.categorical_cross_entropy(ONE_HOT, LIKELY, label_smoothing=0.2, reduction="none")
    np.testing.assert_allclose(found, -(smooth * np.log(LIKELY)).sum(-1), rtol=1e-9)
    weights = [1.0, 2.0, 3.0, 4.0]
    found = L.categorical_cross_entropy(ONE_HOT, LIKELY, class_weights=weights, reduction="none")
    np.testing.assert_allclose(found, -(ONE_HOT * weights * np.log(LIKELY)).sum(-1), rtol=1e-6)
    found = L.binary_cross_entropy(ONE_HOT, LIKELY, label_smoothing=0.2, reduction="none")
    moved = ONE_HOT * 0.8 + 0.1
    expected = -(moved * np.log(LIKELY) + (1 - moved) * np.log(1 - LIKELY)).mean(-1)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_huber_has_a_width():
    np.testing.assert_allclose(L.huber(TRUTH, FOUND, delta=0.3, reduction="none"), special.huber(0.3, TRUTH - FOUND))


def test_margin_ranking():
    expected = np.maximum(-SIGNS * (TRUTH - FOUND) + 0.5, 0)
    found = L.margin_ranking(SIGNS, TRUTH, FOUND, margin=0.5, reduction="none")
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def alignments(labels, times, classes, blank):
    """The sum of the probabilities of all paths that collapse to the labels, by listing all paths."""

    def collapsed(path):
        merged = [one for place, one in enumerate(path) if not place or path[place - 1] != one]
        return [one for one in merged if one != blank]

    return [path for path in itertools.product(range(classes), repeat=times) if collapsed(path) == labels]


@pytest.mark.parametrize("blank", [0, 2])
def test_ctc_is_the_sum_over_all_paths(blank):
    first, second = [one for one in range(3) if one != blank]
    labels, lengths = [[first, second], [first, first], [second, 0], [0, 0]], [2, 2, 1, 0]
    scores = RANDOM.standard_normal((4, 4, 3))
    likely = special.softmax(scores, axis=-1)
    found = L.ctc(np.array(labels), scores, lengths=np.array(lengths), blank=blank, reduction="none").to_numpy()
    for entry, (truth, length) in enumerate(zip(labels, lengths, strict=True)):
        paths = alignments(truth[:length], 4, 3, blank)
        total = sum(np.prod([likely[entry, time, one] for time, one in enumerate(path)]) for path in paths)
        assert found[entry] == pytest.approx(-np.log(total), rel=1e-9)
    shorter = L.ctc(np.array(labels), scores, lengths=np.array(lengths), times=np.array([4, 4, 2, 3]), blank=blank,
                    reduction="none").to_numpy()  # fmt: skip
    again = L.ctc(np.array(labels[2:3]), scores[2:3, :2], lengths=np.array([1]), blank=blank).to_number()
    assert shorter[2] == pytest.approx(again, rel=1e-9)


def test_ctc_has_a_gradient():
    truth, scores = np.array([[1, 2]]), RANDOM.standard_normal((1, 4, 3))
    slope = nx.grad(lambda scores: L.ctc(truth, scores))(scores).to_numpy()
    step = np.zeros(scores.shape)
    step[0, 1, 2] = 1e-6
    change = L.ctc(truth, scores + step).to_number() - L.ctc(truth, scores - step).to_number()
    assert slope[0, 1, 2] == pytest.approx(change / 2e-6, rel=1e-4)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: L.mean_squared_error(TRUTH[0], FOUND),
            r"mean_squared_error: expected y_true and y_pred of one shape, got f64\[4\] and f64\[5\]\[4\]",
        ),
        (
            lambda: L.sparse_categorical_cross_entropy(ONE_HOT, LIKELY),
            "sparse_categorical_cross_entropy: expected numbers of classes and predictions with one more axis, got ",
        ),
        (lambda: L.ctc(CLASSES, LIKELY), r"ctc: expected y_true \[batch, labels\] and y_pred \[batch, time, classes\]"),
        (lambda: L.ctc(ONE_HOT, LIKELY[:, None]), r"ctc: expected numbers of classes as y_true, got f64\[5\]\[4\]"),
    ],
)
def test_errors(call, text):
    with pytest.raises((TypeError, ValueError), match=text):
        call()
