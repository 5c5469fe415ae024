"""Metrics against scikit-learn's definitions, written out in NumPy."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import nn

RANDOM = np.random.default_rng(9)
CLASSES = RANDOM.integers(0, 4, 50)
SCORES = RANDOM.random((50, 4))
TRUTH, LIKELY = RANDOM.integers(0, 2, 50), RANDOM.random(50)
M = nn.metrics


def test_accuracy():
    right = np.mean(SCORES.argmax(-1) == CLASSES)
    assert float(M.accuracy(CLASSES, SCORES)) == pytest.approx(right)
    assert float(M.accuracy(np.eye(4)[CLASSES], SCORES)) == pytest.approx(right)
    assert float(M.accuracy(CLASSES, SCORES.argmax(-1))) == pytest.approx(right)
    assert float(M.accuracy(TRUTH, LIKELY)) == pytest.approx(np.mean((LIKELY > 0.5) == TRUTH))
    assert float(M.accuracy(TRUTH[:, None], LIKELY[:, None], threshold=0.8)) == pytest.approx(
        np.mean((LIKELY > 0.8) == TRUTH)
    )


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_top_k_accuracy(k):
    best = np.argsort(-SCORES, axis=-1)[:, :k]
    expected = np.mean((best == CLASSES[:, None]).any(-1))
    assert float(M.top_k_accuracy(CLASSES, SCORES, k=k)) == pytest.approx(expected)
    assert float(M.top_k_accuracy(np.eye(4)[CLASSES], SCORES, k=k)) == pytest.approx(expected)


def test_counts_and_what_is_made_of_them():
    told = LIKELY > 0.5
    counts = [np.sum((truth == TRUTH) & (told == found)) for truth, found in ((1, 1), (0, 0), (0, 1), (1, 0))]
    tp, tn, fp, fn = counts
    found = (M.true_positives, M.true_negatives, M.false_positives, M.false_negatives)
    assert [int(metric(TRUTH, LIKELY)) for metric in found] == counts
    assert float(M.precision(TRUTH, LIKELY)) == pytest.approx(tp / (tp + fp))
    assert float(M.recall(TRUTH, LIKELY)) == pytest.approx(tp / (tp + fn))
    assert float(M.specificity(TRUTH, LIKELY)) == pytest.approx(tn / (tn + fp))
    assert float(M.f1(TRUTH, LIKELY)) == pytest.approx(2 * tp / (2 * tp + fp + fn))


def test_nothing_found_is_0():
    for metric in (M.precision, M.recall, M.f1):
        assert float(metric(np.zeros(3, int), np.zeros(3))) == 0.0


def test_confusion_matrix():
    expected = np.zeros((4, 4), int)
    np.add.at(expected, (CLASSES, SCORES.argmax(-1)), 1)
    for truth in (CLASSES, np.eye(4)[CLASSES]):
        assert M.confusion_matrix(truth, SCORES, classes=4).to_list() == expected.tolist()
    assert M.confusion_matrix(CLASSES, SCORES.argmax(-1), classes=4).to_list() == expected.tolist()


def test_distances():
    truth, found = RANDOM.standard_normal((2, 20))
    assert float(M.mean_absolute_error(truth, found)) == pytest.approx(np.abs(truth - found).mean())
    assert float(M.mean_squared_error(truth, found)) == pytest.approx(((truth - found) ** 2).mean())
    assert float(M.root_mean_squared_error(truth, found)) == pytest.approx(np.sqrt(((truth - found) ** 2).mean()))
    expected = 1 - ((truth - found) ** 2).sum() / ((truth - truth.mean()) ** 2).sum()
    assert float(M.r2(truth, found)) == pytest.approx(expected)


def test_metrics_are_compiled():
    assert float(nx.jit(M.accuracy)(CLASSES, SCORES)) == pytest.approx(np.mean(SCORES.argmax(-1) == CLASSES))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: M.accuracy(CLASSES[:3], SCORES),
            "accuracy: expected numbers of classes and predictions with one more",
        ),
        (lambda: M.precision(TRUTH[:3], LIKELY), "precision|true_positives: expected y_true and y_pred of one shape"),
        (lambda: M.r2(TRUTH[:3], LIKELY), "r2: expected y_true and y_pred of one shape, got s64"),
        (lambda: M.confusion_matrix(CLASSES[:3], SCORES, classes=4), "confusion_matrix: expected a class for each"),
    ],
)
def test_errors(call, text):
    with pytest.raises(ValueError, match=text):
        call()
