"""The Network class."""

import copy
import json
import pickle

import pytest

import widelimit as wl

TEXTS = [
    "dense",
    "fc:3(w_std=1.4142)",
    "dense(w_std=1.5, b_std=0.1) leaky_relu(slope=0.2) dense",
    "residual{ conv relu conv | conv(kernel=1) } global_avg_pool dense",
    "repeat(3){ dense relu } dense",
    "conv(padding=VALID) polynomial(coef=[1, 0, 2]) flatten dense",
    "conv(frozen=true) relu attention(frozen=true) flatten dense(b_std=0.1, frozen=true)",
]


@pytest.mark.parametrize("text", TEXTS)
def test_round_trips(text):
    net = wl.Network(text)
    again = [
        wl.Network(str(net)),
        eval(repr(net), {"Network": wl.Network}),
        wl.Network.from_json(net.to_json()),
        wl.Network.from_json(json.dumps(net.to_json())),
        pickle.loads(pickle.dumps(net)),
        copy.copy(net),
        copy.deepcopy(net),
    ]
    assert all(other == net and hash(other) == hash(net) for other in again)
    assert len({net, *again}) == 1


def test_equality_is_of_values():
    assert wl.Network("fc:2") == wl.Network("dense relu dense relu dense")
    assert wl.Network("fc:2") != wl.Network("fc:3")
    assert wl.Network("fc:2") != "dense relu dense relu dense"
    assert wl.Network("fc:2") is not None


def test_to_json_is_python():
    assert wl.Network("dense(w_std=1.5) relu dense").to_json() == [["dense", {"w_std": 1.5}], ["relu"], ["dense"]]


def test_frozen_layers():
    net = wl.Network([["dense", {"frozen": True}], ["relu"], ["dense", {"frozen": False}]])
    assert net == wl.Network("fc:1(frozen=1)") != wl.Network("fc:1")
    assert str(net) == "dense(frozen=true) relu dense"
    assert net.to_json() == [["dense", {"frozen": True}], ["relu"], ["dense"]]
    with pytest.raises(wl.InputError, match="true or false"):
        wl.Network("dense(frozen=2)")
    with pytest.raises(wl.InputError, match="true or false"):
        wl.Network([["dense", {"frozen": 1}]])


def test_reads_files(tmp_path):
    path = tmp_path / "net.json"
    path.write_text(json.dumps([["dense", {"b_std": 0.5}]]))
    assert wl.Network(str(path)) == wl.Network("dense(b_std=0.5)")


def test_layers_and_counts():
    net = wl.Network("residual{ conv relu conv | conv(kernel=1) } global_avg_pool dense")
    assert len(net) == len(net.layers) == 3
    assert net.layers[1:] == ["global_avg_pool", "dense"]
    assert net.layer_count == 7


@pytest.mark.parametrize("form", ["8x6x3", (8, 6, 3), [8, 6, 3]])
def test_shapes(form):
    shapes = wl.Network("conv avg_pool flatten dense").shapes(form)
    assert [(s.place, s.height, s.width) for s in shapes] == [("1", 8, 6), ("2", 4, 3), ("3", 1, 1), ("4", 1, 1)]
    assert "avg_pool" in repr(shapes[1])


def test_shapes_of_vectors():
    net = wl.Network("fc:1")
    assert len(net.shapes(10)) == len(net.shapes("10")) == len(net.shapes((10,))) == 3


@pytest.mark.parametrize(
    ("text", "how"),
    [("fc:2", "closed form"), ("dense tanh dense", "quadrature"), ("max_pool flatten dense", "monte carlo")],
)
def test_exactness(text, how):
    assert wl.Network(text).exactness == how


@pytest.mark.parametrize("text", ["", "dense rely dense", "dense(w_std=-1)", "dense(", "nosuch:3", "none.json"])
def test_bad_text(text):
    with pytest.raises(wl.InputError):
        wl.Network(text)


def test_error_tells_place_and_advice():
    with pytest.raises(wl.InputError, match=r"character 7.*'rely'.*'relu'"):
        wl.Network("dense rely dense")


@pytest.mark.parametrize("value", ["dense", "", "[[", [], [["nosuch"]], {"dense": {}}, 3, [["dense", {"w_std": "a"}]]])
def test_bad_json(value):
    with pytest.raises(wl.InputError):
        wl.Network.from_json(value)


@pytest.mark.parametrize("value", ["0x3", "2x", (), (1, 2, 3, 4), (-1,), 0, (2**70,)])
def test_bad_shape(value):
    with pytest.raises(wl.InputError):
        wl.Network("dense").shapes(value)


def test_wrong_types_say_what_is_wanted():
    with pytest.raises(wl.InputError, match="list of layers"):
        wl.Network(3)
    for wrong in ((1.5, 2), None, object(), [[1, 2]]):
        with pytest.raises(wl.InputError, match="28x28x1"):
            wl.Network("dense").shapes(wrong)


def test_text_beyond_ascii():
    with pytest.raises(wl.InputError, match="σ"):
        wl.Network("dense σ dense")


def test_presets_can_be_read():
    for usage in wl.presets():
        assert len(wl.Network(usage.replace(":N", ":2"))) > 0
