# make demo    set up, film a match of twelve minutes, comment on it faster than real time: demo/page.html
# make watch   the same at the pace of the match, live in the browser
# make test    set up, then the default tests (under 20 minutes on two cores)
# make help    the rest
#
# pip's own environment variables reach it: PIP_INDEX_URL, PIP_EXTRA_INDEX_URL, PIP_FIND_LINKS, ...

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
PORT   ?= 8400
SUDO   := $(if $(filter 0,$(shell id -u)),,sudo)

DEB_PACKAGES := ffmpeg default-jre-headless nginx-light libnginx-mod-rtmp python3-gi gir1.2-gst-rtsp-server-1.0 \
                gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad chromium chromium-driver

.PHONY: demo watch screenshot test acceptance test-deps check bench lock clean help
.DELETE_ON_ERROR:

demo: $(READY)
	@$(BIN)/streamsoccer demo demo $(if $(MODEL),--model "$(MODEL)")

watch: $(READY)
	@$(BIN)/streamsoccer demo demo --live --port $(PORT) $(if $(MODEL),--model "$(MODEL)")

screenshot: $(READY) ## docs/page.png anew from demo/page.html; needs Chromium with its driver (make test-deps)
	@$(BIN)/python tests/screenshot.py demo/page.html docs/page.png $(if $(LINE),--line "$(LINE)")

test: $(READY)
	@$(BIN)/python -m pytest
	@$(MAKE) --no-print-directory check

acceptance: $(READY) ## long checks; each figure lands in docs/results/<name>.json
	@$(BIN)/python -m pytest -m acceptance

check: $(READY) ## style and types alone
	@$(BIN)/ruff check --quiet . && $(BIN)/ruff format --quiet --check . && $(BIN)/mypy --no-error-summary

bench: $(READY) ## benchmarks: each prints a ratio against something measured in the same run
	@for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

test-deps: ## Debian packages that tests use; without them those tests skip and say so
	$(SUDO) apt-get update -q
	$(SUDO) apt-get install -y -q --no-install-recommends $(DEB_PACKAGES)

# The lock names exact versions; the package itself is installed in place.
$(READY): requirements.lock.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "StreamSoccer needs Python 3.11 or 3.12; this is $$($(PYTHON) --version). Try: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 2; }
	@echo "Setting up $(VENV) (a few minutes the first time: PyTorch is large)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

lock: ## write requirements.lock.txt from what this environment holds
	@{ head -1 requirements.lock.txt; $(BIN)/python -m pip freeze --all --exclude-editable --exclude pip | sed 's/+cpu//'; } > requirements.lock.new
	@mv requirements.lock.new requirements.lock.txt

clean: ## remove the environment and what the demo made
	rm -rf $(VENV) demo

help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
