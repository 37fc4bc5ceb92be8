"""Download of data sets from a local test server."""

import http.server
import os
import signal
import subprocess
import sys
import tarfile
import threading
from pathlib import Path

import pytest

import widelimit as wl

SHARED = Path(os.environ["WIDELIMIT_DATA"]) / "uci" / "uci.tar.xz"


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves one body with range requests; the first response stops after server.cut bytes and closes or stalls."""

    def do_GET(self):
        server = self.server
        range_ = self.headers.get("Range")
        server.asked.append((self.path, range_))
        first = int(range_.removeprefix("bytes=").rstrip("-")) if range_ else 0
        self.send_response(206 if range_ else 200)
        self.send_header("ETag", '"a"')
        self.send_header("Content-Length", str(len(server.body) - first))
        if range_:
            self.send_header("Content-Range", f"bytes {first}-{len(server.body) - 1}/{len(server.body)}")
        self.end_headers()
        cut = server.cut if len(server.asked) == 1 else len(server.body)
        self.wfile.write(server.body[first:cut])
        self.wfile.flush()
        if len(server.asked) == 1 and server.waits:
            server.ended.wait(60)

    def log_message(self, *words):
        pass


@pytest.fixture
def server(monkeypatch, tmp_path):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("WIDELIMIT_DATA", "")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked, server.cut, server.waits, server.ended = [], None, False, threading.Event()
    server.address = f"http://127.0.0.1:{server.server_port}"
    # Same size as the real table, but different contents.
    server.body = b"1" * 5670
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.ended.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.skipif(not SHARED.exists(), reason="no UCI tables in $WIDELIMIT_DATA")
def test_a_table_is_fetched_resumed_and_found(server, tmp_path):
    with tarfile.open(SHARED) as archive:
        name = next(name for name in archive.getnames() if name.endswith("iris.csv"))
        server.body = archive.extractfile(name).read()
    server.cut = 1000
    with pytest.raises(wl.InputError, match=r"widelimit.fetch_data\('uci:iris'\)"):
        wl.load_data("uci:iris")
    reports = []
    files = wl.fetch_data("uci:iris", mirror=server.address, progress=lambda done, total: reports.append((done, total)))
    assert files == [("uci:iris", tmp_path / "cache" / "widelimit" / "uci" / "iris.csv", len(server.body), True)]
    assert files[0].path.read_bytes() == server.body
    assert server.asked == [("/uci/iris.csv", None), ("/uci/iris.csv", "bytes=1000-")]
    assert reports[-1] == (len(server.body), len(server.body))
    assert wl.load_data("uci:iris").x.shape == (150, 4)
    assert not wl.fetch_data("iris", mirror=server.address)[0].fetched


def test_wrong_contents_leave_nothing(server, tmp_path):
    with pytest.raises(wl.InputError, match=r"(?s)SHA-256.*fetch it from a mirror \(mirror="):
        wl.fetch_data("uci:iris", mirror=server.address, folder=tmp_path / "data")
    assert list((tmp_path / "data" / "uci").iterdir()) == []


def test_other_files_are_replaced_when_asked_only(server, tmp_path):
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci" / "iris.csv").write_text("1,2,0\n")
    with pytest.raises(wl.InputError, match=r"force=True"):
        wl.fetch_data(["uci:iris"], mirror=server.address, folder=tmp_path)
    assert server.asked == []
    with pytest.raises(wl.InputError, match="SHA-256"):
        wl.fetch_data(["uci:iris"], mirror=server.address, folder=tmp_path, force=True)
    assert (tmp_path / "uci" / "iris.csv").read_text() == "1,2,0\n"


def test_what_a_report_raises_arrives_and_what_came_is_kept(server, tmp_path):
    server.cut, server.waits = 2000, True

    def report(done, total):
        if done > 0:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        wl.fetch_data("uci:iris", mirror=server.address, folder=tmp_path, progress=report)
    assert (tmp_path / "uci" / "iris.csv.part").stat().st_size == 2000


def test_control_c(server, tmp_path):
    server.cut, server.waits = 2000, True
    code = f"import widelimit as wl\nwl.fetch_data('uci:iris', mirror={server.address!r}, folder={str(tmp_path)!r})"
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    part = tmp_path / "uci" / "iris.csv.part"
    for _ in range(600):
        if part.exists() and part.stat().st_size == 2000:
            break
        threading.Event().wait(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert errors.strip().endswith("KeyboardInterrupt")
    assert part.stat().st_size == 2000


@pytest.mark.parametrize(
    ("names", "options"),
    [
        ((), {}),
        (("mnits",), {}),
        (("graphs",), {}),
        (("mnist",), {"mirror": "ftp://a"}),
        (("mnist",), {"stall": 0}),
        (("mnist",), {"retries": -1}),
    ],
)
def test_bad_requests(names, options, tmp_path):
    with pytest.raises(wl.InputError):
        wl.fetch_data(*names, folder=tmp_path, **options)
