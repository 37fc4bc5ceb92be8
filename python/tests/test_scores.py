"""Scores against scikit-learn metrics."""

import numpy as np
import pytest

import widelimit as wl

metrics = pytest.importorskip("sklearn.metrics")

RNG = np.random.default_rng(5)


def draw(samples, classes):
    """Returns labels, predictions and probabilities with ties; all classes occur in labels and predictions."""
    y = np.concatenate([np.arange(classes), RNG.integers(classes, size=samples - classes)])
    p = RNG.dirichlet(np.ones(classes), size=samples).round(2)
    p[np.arange(samples), y] += 0.3
    p /= p.sum(axis=1, keepdims=True)
    told = p.argmax(axis=1)
    told[:classes] = np.arange(classes)
    return y, told, p


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("samples", [23, 200])
def test_of_classes(samples, classes):
    y, told, p = draw(samples, classes)
    found = wl.scores(y, told, p)
    assert found.samples == samples
    assert found.accuracy == metrics.accuracy_score(y, told)
    assert found.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(y, told), rel=1e-14)
    for name, score in [
        ("precision", metrics.precision_score),
        ("recall", metrics.recall_score),
        ("f1", metrics.f1_score),
    ]:
        assert getattr(found, name) == pytest.approx(score(y, told, average="macro"), rel=1e-14)
        each = [getattr(one, name) for one in found.by_class]
        assert each == pytest.approx(score(y, told, average=None).tolist(), rel=1e-14)
    assert np.array_equal(found.confusion, metrics.confusion_matrix(y, told))
    assert [one.support for one in found.by_class] == np.bincount(y).tolist()
    assert found.log_loss == pytest.approx(metrics.log_loss(y, p), rel=1e-13)
    if classes == 2:
        assert found.auc == pytest.approx(metrics.roc_auc_score(y, p[:, 1]), rel=1e-14)
        assert found.brier == pytest.approx(metrics.brier_score_loss(y, p[:, 1]), rel=1e-13)
    else:
        assert found.auc == pytest.approx(metrics.roc_auc_score(y, p, multi_class="ovo"), rel=1e-13)
        one_hot = np.eye(classes)[y]
        assert found.brier == pytest.approx(((p - one_hot) ** 2).sum(axis=1).mean(), rel=1e-13)
    assert found.notes == []


@pytest.mark.parametrize("bins", [1, 7, 10])
def test_calibration(bins):
    y, told, p = draw(300, 3)
    found = wl.scores(y, told, p, bins=bins)
    likely = p.max(axis=1)
    right = p.argmax(axis=1) == y
    place = np.digitize(likely, np.arange(1, bins) / bins, right=True)
    expected = 0.0
    curve = []
    for b in np.unique(place):
        of = place == b
        curve.append((of.sum(), likely[of].mean(), right[of].mean()))
        expected += of.mean() * abs(right[of].mean() - likely[of].mean())
    assert found.calibration_error == pytest.approx(expected, rel=1e-12)
    assert np.allclose(found.reliability, curve)


@pytest.mark.parametrize("columns", [None, 1, 3])
def test_of_numbers(columns):
    y = RNG.normal(size=40 if columns is None else (40, columns))
    g = y + 0.3 * RNG.normal(size=y.shape)
    found = wl.scores(y, g)
    assert found.r2 == pytest.approx(metrics.r2_score(y, g), rel=1e-13)
    assert found.squared_error == pytest.approx(metrics.mean_squared_error(y, g), rel=1e-13)
    assert found.root_squared_error == pytest.approx(metrics.mean_squared_error(y, g) ** 0.5, rel=1e-13)
    assert found.absolute_error == pytest.approx(metrics.mean_absolute_error(y, g), rel=1e-13)


def test_names_and_decisions():
    y = np.array(["no", "yes", "yes", "no", "yes"])
    told = np.array(["no", "yes", "no", "no", "yes"])
    g = np.array([-2.0, 1.0, -0.5, 0.0, 3.0])
    found = wl.scores(y, told, decisions=g)
    assert found.auc == pytest.approx(metrics.roc_auc_score(y, g), rel=1e-15)
    assert [one.label for one in found.by_class] == ["no", "yes"]
    assert found.log_loss is None
    p = 1 / (1 + np.exp(-g))
    assert wl.scores(y, told, p).brier == pytest.approx(metrics.brier_score_loss(y, p, pos_label="yes"))


def test_undefined_scores_are_none_and_said():
    assert wl.scores([2.0, 2.0], [1.0, 2.0]).r2 is None
    assert "constant" in wl.scores([2.0, 2.0], [1.0, 2.0]).notes[0]
    found = wl.scores([1, 1], [1, 1], [[0.1, 0.9], [0.2, 0.8]], classes=[0, 1])
    assert found.auc is None
    assert found.by_class[0].recall is found.by_class[0].precision is None
    assert any("all samples are of class '1'" in note for note in found.notes)
    never = wl.scores(["a", "b", "b"], ["b", "b", "b"])
    assert never.precision is None
    assert never.by_class[0].precision is None
    assert never.recall == 0.5
    assert any("'a'" in note for note in never.notes)
    certain = wl.scores([0, 1], [0, 0], [[1.0, 0.0], [1.0, 0.0]])
    assert certain.log_loss is None
    assert any("infinite" in note for note in certain.notes)


def test_wrong_input():
    with pytest.raises(wl.InputError):
        wl.scores([0, 1], [0])
    with pytest.raises(wl.InputError, match="columns"):
        wl.scores([0, 1], [0, 1], [[0.2, 0.3, 0.5]] * 2)
    with pytest.raises(wl.InputError, match="between 0 and 1"):
        wl.scores([0, 1], [0, 1], [[0.2, 0.8], [1.2, -0.2]])
    with pytest.raises(wl.InputError, match="none of classes"):
        wl.scores(["a", "b"], ["a", "c"], classes=["a", "b"])
    with pytest.raises(wl.InputError, match="finite"):
        wl.scores([0.5, np.nan], [0.5, 0.5])
    with pytest.raises(wl.InputError, match="y is numbers"):
        wl.scores([0.5, 1.5], [0.5, 1.5], [[1.0], [1.0]], classify=False)


def test_of_an_estimator():
    x, y, _ = wl.load_data("digits", limit=200, scale="unit")
    x = x.reshape(200, 64)
    model = wl.NTKClassifier("fc:1", machine="logistic", lam=1e-3).fit(x[:140], y[:140])
    p = model.predict_proba(x[140:])
    found = wl.scores(y[140:], model.predict(x[140:]), p, classes=model.classes_)
    assert found.accuracy == model.score(x[140:], y[140:])
    assert found.log_loss == pytest.approx(metrics.log_loss(y[140:], p, labels=model.classes_))
