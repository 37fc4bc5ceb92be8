# Thin: every target is one script or one CMake call. `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help setup configure build python test demo lint format bench docs fuzz sanitize attack gpu-bundle clean

jobs := $(shell nproc)
# Development uses the shared data beside the tree; an installed program knows the variable and the user's cache only.
export WIDELIMIT_DATA ?= $(abspath ../shared/data)
stamp := build/stamps/python-package
python_sources := $(shell find widelimit python cmake CMakeLists.txt pyproject.toml -type f -not -name '*.pyc' 2>/dev/null)

help:                  ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 18

setup:                 ## install what a bare Debian 12 lacks (apt as root or sudo; Python packages in .venv)
	@scripts/setup.sh

configure: setup
	@cmake --preset release --log-level=WARNING >/dev/null

build: configure       ## library, command line, and the Python package in .venv
	@cmake --build --preset release -j $(jobs) --target widelimit_app
	@$(MAKE) --no-print-directory python

python: $(stamp)       ## the Python package alone

# Linked to the library of the release build; a plain `pip install .` compiles its own.
$(stamp): $(python_sources) | configure
	@cmake --build --preset release -j $(jobs) --target widelimit
	@.venv/bin/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall \
	  --config-settings=cmake.define.WIDELIMIT_BUILT=$(CURDIR)/build/release .
	@touch $@

test: build            ## all tests; the last line counts them
	@scripts/test.sh release

demo: build            ## kernels and machines on the embedded digits, and a report page
	@scripts/demo.sh

lint: setup            ## format, clang-tidy, rules of the tree, Python
	@scripts/lint.sh

format:                ## format C++ as `make lint` requires
	@git ls-files -z --cached --others --exclude-standard '*.cpp' '*.hpp' '*.cu' '*.cuh' | xargs -0 -r clang-format -i

bench: build           ## speed compared with the peers
	@cmake --build --preset release -j $(jobs)
	@scripts/bench.sh

docs: build            ## check links, run the runnable blocks
	@.venv/bin/python scripts/check_docs.py --run

fuzz: setup            ## fuzz every reader, SECONDS=60 for each
	@scripts/fuzz.sh $(or $(SECONDS),60)

sanitize: setup        ## C++ tests under the address and undefined-behaviour sanitizers
	@scripts/test.sh sanitize

attack: build          ## attack every guarantee at random, SECONDS=60 for each; ONLY=, SEED=, TRIAL= run one again
	@scripts/attack.sh --seconds $(or $(SECONDS),60) $(if $(ONLY),--only $(ONLY)) $(if $(SEED),--seed $(SEED)) \
	  $(if $(TRIAL),--trial $(TRIAL))

gpu-bundle: build      ## one archive of program, plug-in, GPU tests and benchmark for a machine with an NVIDIA driver
	@cmake --build --preset release -j $(jobs) --target widelimit_app cuda_tests bench_cuda
	@scripts/gpu_bundle.sh build/release build/widelimit-gpu.tar.xz

clean:                 ## remove what was built (not .venv, not .peers)
	rm -rf build
