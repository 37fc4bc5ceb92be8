"""Sparse SciPy matrices as samples."""

import numpy as np
import pytest

import widelimit as wl

sparse = pytest.importorskip("scipy.sparse")


def rows_of(n, d, density, seed=0, **kind):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * (rng.random(size=(n, d)) < density)
    return x, sparse.csr_array(x, **kind)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_every_format_gives_the_kernel_of_dense_samples(form, index):
    x, rows = rows_of(30, 200, 0.05)
    rows = rows.asformat(form)
    if form in ("csr", "csc"):
        rows.indices, rows.indptr = rows.indices.astype(index), rows.indptr.astype(index)
    expected = wl.kernel("fc:3", x)
    np.testing.assert_allclose(wl.kernel("fc:3", rows), expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(wl.kernel("fc:3", rows, x[:4]), expected[:, :4], rtol=0, atol=1e-13)
    np.testing.assert_allclose(wl.kernel("fc:3", x[:4], rows), expected[:4], rtol=0, atol=1e-13)


def test_matrix_and_single_precision_and_integers():
    x, rows = rows_of(12, 50, 0.2)
    np.testing.assert_allclose(wl.kernel("fc:1", sparse.csr_matrix(x)), wl.kernel("fc:1", x), atol=1e-13)
    np.testing.assert_allclose(wl.kernel("fc:1", rows.astype(np.float32)), wl.kernel("fc:1", x), atol=1e-6)
    counts = sparse.csr_array(np.array([[0, 2, 0], [1, 0, 3]]))
    np.testing.assert_allclose(wl.kernel("fc:1", counts), wl.kernel("fc:1", counts.toarray()), atol=1e-15)


def test_entries_of_one_place_add_up_and_the_matrix_stays_as_it_was():
    twice = sparse.csr_array((np.array([1.0, 2.0, 5.0]), np.array([3, 3, 0]), np.array([0, 3])), shape=(1, 4))
    np.testing.assert_allclose(wl.kernel("fc:1", twice), wl.kernel("fc:1", [[5.0, 0, 0, 3.0]]), atol=1e-15)
    assert twice.nnz == 3
    zeros = sparse.csr_array((np.array([0.0, 2.0]), np.array([0, 1]), np.array([0, 2, 2])), shape=(2, 3))
    np.testing.assert_allclose(wl.kernel("fc:1", zeros), wl.kernel("fc:1", zeros.toarray()), atol=1e-15)


def test_awkward_sizes():
    assert wl.kernel("fc:2", sparse.csr_array((0, 5))).shape == (0, 0)
    assert np.all(wl.kernel("fc:2", sparse.csr_array((3, 5))) == 0)
    one = sparse.csr_array(np.array([[2.0], [0.0]]))
    np.testing.assert_allclose(wl.kernel("fc:2", one), wl.kernel("fc:2", one.toarray()), atol=1e-15)


def test_bad_numbers_are_named():
    bad = sparse.csr_array(np.array([[0, 1.0, 0], [0, 0, np.nan]]))
    with pytest.raises(wl.InputError, match="sample 1 has nan at value 2"):
        wl.kernel("fc:1", bad)
    with pytest.raises(wl.InputError, match="dtype complex"):
        wl.kernel("fc:1", bad.astype(complex))
    with pytest.raises(wl.InputError, match=r"toarray\(\)"):
        wl.fit_svm(bad, [0, 1])


def test_other_doors():
    x, rows = rows_of(20, 40, 0.3)
    np.testing.assert_allclose(wl.diagonal("fc:2", rows), wl.diagonal("fc:2", x), atol=1e-13)
    np.testing.assert_allclose(wl.sweep("fc:2", rows), wl.sweep("fc:2", x), atol=1e-13)
    for kernel in ("linear", "rbf", "laplace", "polynomial(degree=2)", "arccosine(degree=1)"):
        np.testing.assert_allclose(wl.classical_kernel(kernel, rows), wl.classical_kernel(kernel, x), atol=1e-12)
    y = x[:, 0]
    assert np.isclose(wl.marginal_likelihood("fc:1", rows, y)[0], wl.marginal_likelihood("fc:1", x, y)[0])
    with pytest.raises(wl.InputError, match="dimensions"):
        wl.kernel("conv relu flatten dense", rows, channels_first=True)


def test_stored_gram(tmp_path):
    _, rows = rows_of(40, 300, 0.03)
    found = wl.kernel("fc:2", rows, out=tmp_path / "k.h5")
    assert np.array_equal(np.asarray(found[:, :]), wl.kernel("fc:2", rows))


def test_finite_networks_read_all_numbers():
    x, rows = rows_of(10, 6, 0.5)
    y = x[:, 0]
    options = dict(width=16, steps=3, seed=1, rate=0.1)
    a, b = wl.train("fc:1", rows, y, **options), wl.train("fc:1", x, y, **options)
    assert np.array_equal(a.predict(rows), b.predict(x))


def test_files(tmp_path):
    path = tmp_path / "x.npz"
    _, rows = rows_of(9, 2000, 0.01)
    sparse.save_npz(path, rows)
    data = wl.load_data(str(path))
    assert sparse.issparse(data.x) and (data.x != rows).nnz == 0
    sparse.save_npz(path, rows.tocsc())
    with pytest.raises(wl.InputError, match=r"tocsr\(\)"):
        wl.load_data(str(path))
    text = tmp_path / "x.svm"
    text.write_text("".join(f"{i % 2} {i + 1}:1 {1000 * (i + 1)}:2\n" for i in range(12)) + "1 1000000:3\n")
    data = wl.load_data(str(text), scale="maxabs")
    assert sparse.issparse(data.x) and data.x.shape == (13, 1_000_000) and data.x.nnz == 25
    assert data.x.max() == 1
    with pytest.raises(wl.InputError, match="maxabs"):
        wl.load_data(str(text), scale="standard")
    k = wl.kernel("fc:3", data.x)
    assert k.shape == (13, 13) and np.all(np.isfinite(k))


class TestEstimators:
    sklearn = pytest.importorskip("sklearn")

    def test_machine_of_dense_samples(self, tmp_path):
        x, rows = rows_of(60, 80, 0.2)
        y = np.where(x[:, :5].sum(axis=1) > 0, "up", "down")
        for machine in ("svm", "ridge", "logistic"):
            a = wl.NTKClassifier("fc:2", machine=machine, lam=0.1).fit(rows[:40], y[:40])
            b = wl.NTKClassifier("fc:2", machine=machine, lam=0.1).fit(x[:40], y[:40])
            assert sparse.issparse(a.support_vectors_)
            np.testing.assert_allclose(a.decision_function(rows), b.decision_function(x), atol=1e-6)
            np.testing.assert_allclose(a.decision_function(x), b.decision_function(rows), atol=1e-6)
            path = tmp_path / f"{machine}.h5"
            a.save(path)
            again = wl.NTKClassifier.load(path)
            assert sparse.issparse(again.support_vectors_)
            np.testing.assert_array_equal(again.decision_function(rows), a.decision_function(rows))
            model = wl.load_model(path)
            np.testing.assert_array_equal(model.predict(rows), a.predict(rows))
            np.testing.assert_array_equal(model.predict(x), a.predict(rows))

    def test_regressor_and_its_posterior(self):
        x, rows = rows_of(30, 40, 0.3)
        y = x[:, 0] - x[:, 1]
        a = wl.NTKRegressor("fc:2", lam=0.1).fit(rows, y)
        b = wl.NTKRegressor("fc:2", lam=0.1).fit(x, y)
        for found, expected in zip(a.predict(rows, return_std=True), b.predict(x, return_std=True), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-8)

    def test_images_want_all_numbers(self):
        _, rows = rows_of(10, 16, 0.5)
        with pytest.raises(wl.InputError, match=r"toarray\(\)"):
            wl.NTKClassifier("cntk:1", input_shape=(4, 4, 1)).fit(rows, np.arange(10) % 2)
        with pytest.raises((TypeError, ValueError), match=r"[Ss]parse"):
            wl.NTKClassifier(kernel="precomputed").fit(rows, np.arange(10) % 2)

    def test_text(self):
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.model_selection import GridSearchCV
        from sklearn.pipeline import make_pipeline

        fruit = ["ripe apple and pear", "sweet pear", "apple pie with pear", "a ripe sweet plum", "plum and apple jam"]
        tools = ["steel hammer", "hammer and nail", "saw and steel nail", "a rusty saw", "steel drill and hammer"]
        pipeline = make_pipeline(TfidfVectorizer(), wl.NTKClassifier("fc:2", machine="svm", lam=0.1))
        pipeline.fit(fruit + tools, ["fruit"] * 5 + ["tool"] * 5)
        assert list(pipeline.predict(["sweet apple", "rusty nail"])) == ["fruit", "tool"]
        search = GridSearchCV(pipeline, {"ntkclassifier__lam": [0.01, 1.0]}, cv=2)
        search.fit(fruit + tools, ["fruit"] * 5 + ["tool"] * 5)
        assert list(search.predict(["pear jam", "steel saw"])) == ["fruit", "tool"]
