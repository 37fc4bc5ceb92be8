"""Posterior standard deviations and covariances against Gaussian processes of scikit-learn."""

import pickle
import threading

import numpy as np
import pytest

import widelimit as wl

RNG = np.random.default_rng(7)
X, NEW = RNG.normal(size=(30, 3)), RNG.normal(size=(6, 3))
Y = np.abs(X[:, 0]) - X[:, 1]
Y[4] = 0.0
LAM = 0.1


def expected(kind="ntk"):
    k, cross = wl.kernel("fc:2", X, kind=kind), wl.kernel("fc:2", NEW, X, kind=kind)
    a = k + LAM / 2 * np.eye(30)
    return cross @ np.linalg.solve(a, Y), wl.kernel("fc:2", NEW, kind=kind) - cross @ np.linalg.solve(a, cross.T)


@pytest.mark.parametrize("kind", ["nngp", "ntk"])
def test_of_an_estimator(kind):
    mean, covariance = expected(kind)
    model = wl.NTKRegressor("fc:2", lam=LAM, kind=kind).fit(X, Y)
    for again in (model, pickle.loads(pickle.dumps(model))):
        found, std = again.predict(NEW, return_std=True)
        assert np.allclose(found, mean)
        assert np.allclose(std, np.sqrt(np.diag(covariance)))
        found, cov = again.predict(NEW, return_cov=True)
        assert np.allclose(found, mean)
        assert np.allclose(cov, covariance)
        assert (cov == cov.T).all()
    assert np.allclose(model.predict(NEW), mean)


def test_several_outputs_share_it():
    _, covariance = expected()
    model = wl.NTKRegressor("fc:2", lam=LAM).fit(X, np.column_stack([Y, -Y]))
    mean, std = model.predict(NEW, return_std=True)
    assert mean.shape == std.shape == (6, 2)
    assert np.allclose(std[:, 1], np.sqrt(np.diag(covariance)))
    assert model.predict(NEW, return_cov=True)[1].shape == (6, 6, 2)
    one = wl.NTKRegressor("fc:2", lam=LAM).fit(X, Y[:, None])
    assert one.predict(NEW, return_std=True)[0].shape == one.predict(NEW).shape


def test_of_zeros():
    model = wl.NTKRegressor("fc:2", lam=LAM).fit(X, np.zeros(30))
    mean, std = model.predict(NEW, return_std=True)
    assert (mean == 0).all()
    assert np.allclose(std**2, np.diag(expected()[1]))


def test_of_model_files(tmp_path):
    mean, covariance = expected()
    fitted = wl.NTKRegressor("fc:2", lam=LAM).fit(X, Y)
    fitted.save(tmp_path / "plain.h5")
    fitted.save(tmp_path / "posterior.h5", posterior=True)
    for name in ("plain.h5", "posterior.h5"):
        again = wl.NTKRegressor.load(tmp_path / name)
        assert np.allclose(again.predict(NEW, return_cov=True)[1], covariance)
    model = wl.load_model(tmp_path / "posterior.h5")
    assert np.allclose(model.predict(NEW, return_std=True)[1] ** 2, np.diag(covariance))
    assert np.allclose(model.predict(NEW, return_cov=True)[1], covariance)
    assert np.allclose(model.predict(NEW, return_cov=True)[0], mean)
    with pytest.raises(wl.InputError, match="no posterior"):
        wl.load_model(tmp_path / "plain.h5").predict(NEW, return_std=True)


def test_of_a_process():
    k, cross = wl.kernel("fc:2", X), wl.kernel("fc:2", NEW, X)
    process = wl.gaussian_process(k, Y, noise=LAM / 2)
    assert np.allclose(process.covariance(cross, wl.kernel("fc:2", NEW)), expected()[1])
    with pytest.raises(wl.InputError, match="rows"):
        process.covariance(cross, wl.kernel("fc:2", NEW[:2]))


def test_refused_where_there_is_none(tmp_path):
    for options, words in (
        ({"machine": "svr"}, "svr"),
        ({"machine": "regression"}, "regression"),
        ({"bias": True}, "bias"),
    ):
        model = wl.NTKRegressor("fc:2", **options).fit(X, Y)
        with pytest.raises(wl.InputError, match=words):
            model.predict(NEW, return_std=True)
        with pytest.raises(wl.InputError, match="no posterior"):
            model.save(tmp_path / "m.h5", posterior=True)
    weighted = wl.NTKRegressor("fc:2").fit(X, Y, sample_weight=np.ones(30))
    with pytest.raises(wl.InputError, match="sample_weight"):
        weighted.predict(NEW, return_cov=True)
    precomputed = wl.NTKRegressor(kernel="precomputed").fit(wl.kernel("fc:2", X), Y)
    with pytest.raises(wl.InputError, match="gaussian_process"):
        precomputed.predict(wl.kernel("fc:2", NEW, X), return_std=True)
    with pytest.raises(wl.InputError, match="return_cov"):
        wl.NTKRegressor("fc:2").fit(X, Y).predict(NEW, return_std=True, return_cov=True)


def test_the_gram_matrix_is_factored_once(tmp_path):
    estimator = wl.NTKRegressor("fc:2", lam=LAM).fit(X, Y)
    first = estimator.predict(NEW, return_std=True)[1]
    factor = estimator._kept_posterior._kept[3]
    assert np.array_equal(estimator.predict(NEW, return_std=True)[1], first)
    estimator.predict(NEW, return_cov=True)
    assert factor.factorisations == 1
    estimator.fit(X[:20], Y[:20])
    assert not np.allclose(estimator.predict(NEW, return_std=True)[1], first)
    copied = pickle.loads(pickle.dumps(estimator.fit(X, Y)))
    assert np.array_equal(copied.predict(NEW, return_std=True)[1], first)
    estimator.set_params(kind="nngp").fit(X, Y)
    assert np.allclose(estimator.predict(NEW, return_cov=True)[1], expected("nngp")[1])
    copied.save(tmp_path / "m.h5", posterior=True)
    model = wl.load_model(tmp_path / "m.h5")
    for _ in range(3):
        assert np.allclose(model.predict(NEW, return_std=True)[1], first)
    assert model._factor.factorisations == 1


def test_threads_share_the_factor():
    estimator = wl.NTKRegressor("fc:2", lam=LAM).fit(X, Y)
    first = estimator.predict(NEW, return_std=True)[1]
    core, _ = estimator._kept_posterior.of(estimator)
    factor = wl._core.PosteriorFactor()
    found = []

    def predict():
        found.append(wl._core.model_posterior(core, factor, NEW, False, "cpu", 1)[1])

    threads = [threading.Thread(target=predict) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert factor.factorisations == 1
    assert all(np.allclose(np.sqrt(variance), first) for variance in found)
