"""scikit-learn's dispatch by the array API standard: arrays in, arrays out.

SciPy reads whether it is asked for when it is imported, so that all of it runs in one process of its own.
"""

import os
import subprocess
import sys

import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

_PROGRAM = """
import numpy as np, sklearn
from sklearn import decomposition, linear_model, metrics, model_selection, preprocessing
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
import nxkernel as nx, nxkernel.numpy as nnp

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 4))
Y = X @ np.array([1.0, 2.0, 3.0, 4.0])
C = (Y > 0).astype(int)
WORKS = {
    "PCA": lambda x, y, c: decomposition.PCA(2, svd_solver="full").fit(x).transform(x),
    "PCA by covariances": lambda x, y, c: decomposition.PCA(2, svd_solver="covariance_eigh").fit(x).transform(x),
    "Ridge": lambda x, y, c: linear_model.Ridge(solver="svd").fit(x, y).predict(x),
    "LinearDiscriminantAnalysis": lambda x, y, c: LinearDiscriminantAnalysis().fit(x, c).predict(x),
    "StandardScaler": lambda x, y, c: preprocessing.StandardScaler().fit_transform(x),
    "MinMaxScaler": lambda x, y, c: preprocessing.MinMaxScaler().fit_transform(x),
    "euclidean_distances": lambda x, y, c: metrics.pairwise.euclidean_distances(x, x),
    "cosine_similarity": lambda x, y, c: metrics.pairwise.cosine_similarity(x, x),
    "rbf_kernel": lambda x, y, c: metrics.pairwise.rbf_kernel(x, x),
    "mean_squared_error": lambda x, y, c: metrics.mean_squared_error(y, y * 1.1),
    "r2_score": lambda x, y, c: metrics.r2_score(y, y * 1.1),
    "accuracy_score": lambda x, y, c: metrics.accuracy_score(c, 1 - c),
    "confusion_matrix": lambda x, y, c: metrics.confusion_matrix(c, 1 - c),
    "train_test_split": lambda x, y, c: model_selection.train_test_split(x, y, random_state=0)[0],
    "cross_val_predict": lambda x, y, c: model_selection.cross_val_predict(linear_model.Ridge(solver="svd"), x, y),
}
wanted = {name: work(X, Y, C) for name, work in WORKS.items()}
with sklearn.config_context(array_api_dispatch=True):
    for make in (nnp.array, nx.tensor):
        for name, work in WORKS.items():
            found = work(make(X), make(Y), make(C))
            np.testing.assert_allclose(np.asarray(found), wanted[name], rtol=1e-6, atol=1e-9, err_msg=name)
            print(make.__name__, name, "array" if isinstance(found, (nnp.ndarray, nx.Tensor)) else type(found).__name__)
"""


@pytest.mark.slow
def test_estimators_and_metrics_take_arrays_and_give_arrays():
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}
    run = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    numbers = [line for line in lines if line.endswith(" float")]
    assert [line.split()[1] for line in numbers] == 2 * ["mean_squared_error", "r2_score", "accuracy_score"]
    assert len([line for line in lines if line.endswith(" array")]) == 2 * 12
