# The developer's tasks, one word each. `make` alone lists them.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

# Debian packages the build needs; `deps` installs those that are missing.
DEBIAN_PACKAGES := libmicrohttpd-dev libcurl4-gnutls-dev libgnutls28-dev pkg-config curl

ifneq ($(words $(CURDIR)),1)
$(error make does not work in a folder with a space in its path: $(CURDIR))
endif

SOURCES := $(wildcard Sources Tests Examples Benchmarks Package.swift)
IMAGE ?= transition-arbiter
# Every program is built for release once, in the form in which it is installed, for all that runs it.
PROGRAMS := arbiterd arbiterctl conformance-agent example-view
RELEASE := .build/release
# ARBITERD= is another daemon, which was built elsewhere.
override ARBITERD := $(abspath $(or $(ARBITERD),$(RELEASE)/arbiterd))
export ARBITERD
DAEMON := $(filter $(RELEASE)/arbiterd,$(ARBITERD:$(CURDIR)/%=%))
# What `install` installs, and `build-static` builds.
BUILT := .build/tree/arbiterd

# What tests draw, they draw from SEED=, and always the same without it.
ifdef SEED
export ARBITER_SEED := $(SEED)
endif

.PHONY: help
help: ## list these targets
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/\1\t\2/p' Makefile | expand -t 18

.PHONY: run
run: $(RELEASE)/arbiterd ## build for release and start the daemon in the foreground
	@echo
	@echo 'Starting arbiterd; Ctrl-C ends it. Its first line says where its journal is. In another terminal:'
	@echo '  curl -X POST http://127.0.0.1:8080/transitions/start   # 201; 409 for everybody else while it runs'
	@echo '  curl http://127.0.0.1:8080/transitions                 # who runs, who waits'
	@echo '  curl http://127.0.0.1:8080/openapi.yaml                # every call'
	@echo 'Or open http://127.0.0.1:8080/ in a browser.'
	@echo
	@exec $(RELEASE)/arbiterd

.PHONY: demo
demo: $(DAEMON) ## start a daemon and a dozen processes that contend, and print the address of the page that shows them
	@scripts/install-packages python3 python3-venv
	@scripts/demo

.PHONY: screenshots
screenshots: $(DAEMON) ## make the pictures of the page in docs/images
	@scripts/install-packages chromium python3 python3-venv
	@scripts/screenshots

# Tests that wait keep one of the few threads of their process; so there are several processes.
UNIT_TESTS := '--filter ^ArbiterHTTPTests' '--filter ^ArbiterClusterTests' '--filter ^ArbiterClientTests' \
	'--skip ^(ArbiterHTTPTests|ArbiterClusterTests|ArbiterClientTests|IntegrationTests)'
INTEGRATION_TESTS := '--filter ^IntegrationTests.Integration/[A-D]' '--filter ^IntegrationTests.Integration/[E-Q]' \
	'--filter ^IntegrationTests.Integration/[^A-Q]'

.PHONY: check
check: deps ## quick: formatting, and the unit tests
	@scripts/install-packages etcd-server
	@swift format lint --strict --parallel -r $(SOURCES)
	@scripts/swift-test $(UNIT_TESTS)

# CHECKED=1 says that `make check` has just passed: the unit tests are not run once more then.
.PHONY: test
test: test-packages ## every test; CHECKED=1 leaves out what `make check` has
	@scripts/run-steps $(if $(CHECKED),,check) programs integration-test request-cost
	@scripts/run-steps --jobs 3 $(SUITES)

.PHONY: test-packages
test-packages: deps
	@scripts/install-packages $(TEST_PACKAGES)
	@scripts/python-environment

# What `make test` runs beside each other, the longest first. Most of them wait most of the time.
CLIENTS := python python-async javascript javascript-shared swift
SUITES := browser-test operations-test $(CLIENTS:%='conformance-test CLIENT=%') examples-test lost-peer-test \
	readme-test docs client-test bench-test
TEST_PACKAGES := chromium e2fsprogs etcd-server gcc haproxy iproute2 libc6-dev nginx nodejs openssl prometheus python3 python3-venv valgrind

.PHONY: integration-test
integration-test: deps $(DAEMON) ## tests with the real daemon and several processes
	@scripts/install-packages etcd-server
	@ARBITER_DAEMON='$(ARBITERD)' scripts/swift-test $(INTEGRATION_TESTS)

.PHONY: lost-peer-test
lost-peer-test: $(DAEMON) ## take the link between a client and the daemon away (needs root)
	@scripts/install-packages iproute2
	@scripts/lost-peer-test

.PHONY: cluster-test
cluster-test: FAULTS ?= 100
cluster-test: $(DAEMON) ## three nodes on three members of etcd, and one fault after another (needs root): FAULTS=, SEED=
	@scripts/install-packages etcd-server iproute2 nftables openssl python3
	@scripts/cluster-test --faults $(FAULTS) $(if $(SEED),--seed $(SEED))

.PHONY: readme-test
readme-test: $(DAEMON) $(RELEASE)/arbiterctl ## run the examples of the README and docs, compare their answers, and look up the names
	@scripts/install-packages python3
	@cd scripts && python3 -m unittest readme_test.tests
	@scripts/check-names
	@scripts/readme-test

.PHONY: docs
docs: deps ## build the documentation, as a site in .build-site and for Xcode in .build-docc; a dead link fails
	@scripts/install-packages python3 python3-venv
	@scripts/python-environment mkdocs-requirements.txt .build-docs
	@.build-docs/bin/mkdocs build --strict
	@scripts/swift-docs

.PHONY: client-test
client-test: $(DAEMON) ## the clients' types and units, and a Python client made of openapi.yaml that works with the daemon
	@scripts/install-packages nodejs python3 python3-venv
	@scripts/client-test

.PHONY: conformance-test
conformance-test: $(DAEMON) $(RELEASE)/conformance-agent ## play the scenarios of Clients/conformance with every client, or with CLIENT=
	@scripts/install-packages nodejs python3 python3-venv
	@scripts/conformance-test $(CLIENT)

.PHONY: operations-test
operations-test: $(DAEMON) $(RELEASE)/arbiterctl ## operate the daemon as an administrator would: TLS, limits, metrics, the journal and its disk, proxies
	@scripts/install-packages e2fsprogs etcd-server gcc haproxy libc6-dev mount nginx openssl prometheus python3 python3-venv
	@scripts/operations-test

.PHONY: lost-machine-test
lost-machine-test: ROUNDS ?= 20
lost-machine-test: $(DAEMON) $(RELEASE)/arbiterctl ## the machine dies under load on a real file system, again and again (needs root): ROUNDS=
	@scripts/install-packages e2fsprogs gcc libc6-dev mount python3 python3-venv
	@ROUNDS=$(ROUNDS) scripts/operations-test -k test_lost_machine

.PHONY: memory-test
memory-test: CROWD ?= 3
memory-test: $(DAEMON) $(RELEASE)/arbiterctl ## clients do their worst to a daemon with a gigabyte: CROWD= (1 in every test run)
	@scripts/install-packages gcc libc6-dev python3 python3-venv
	@CROWD=$(CROWD) scripts/operations-test -k test_memory

.PHONY: browser-test
browser-test: $(DAEMON) ## open web pages in Chromium, and have them send requests to the daemon
	@scripts/install-packages chromium openssl python3 python3-venv
	@scripts/browser-test

.PHONY: examples-test
examples-test: $(DAEMON) $(RELEASE)/arbiterctl $(RELEASE)/example-view ## play the examples as their users would, and read what they say
	@scripts/install-packages chromium nodejs python3 python3-venv
	@scripts/examples-test

.PHONY: soak
soak: KILLS ?= 200
soak: DURABILITY ?= crash
soak: FAULTS ?= 1000
soak: deps $(DAEMON) ## kill the daemon under load, again and again, and play faults in a cluster: KILLS=, DURABILITY=, FAULTS=, SEED=
	@ARBITER_KILLS=$(KILLS) ARBITER_DURABILITY=$(DURABILITY) ARBITER_DAEMON='$(ARBITERD)' \
		scripts/swift-test '--filter IntegrationTests\.Integration/Crashes/'
	@[[ $(FAULTS) == 0 ]] || LOG_LEVEL=$${LOG_LEVEL:-info} $(MAKE) cluster-test FAULTS=$(FAULTS)

.PHONY: damage
damage: COUNT ?= 2000
damage: deps $(DAEMON) ## journals damaged at random, and what the daemon makes of them: SEED=, COUNT=
	@ARBITER_DAMAGES=$(COUNT) ARBITER_DAEMON='$(ARBITERD)' scripts/swift-test '--filter IntegrationTests\.Integration/Damages/'

.PHONY: sanitize sanitize-thread sanitize-address
sanitize: sanitize-thread sanitize-address ## every test under each sanitizer

# Always with the few seeds of `check`, because a sanitizer makes each many times as slow. Daemons that tests end with SIGKILL report
# to files too.
sanitize-thread: export ARBITER_SANITIZE := thread
sanitize-thread: export TSAN_OPTIONS := log_path=$(CURDIR)/.build-thread/report:suppressions=$(CURDIR)/Tests/Sanitizers/thread.txt
sanitize-address: export ASAN_OPTIONS := log_path=$(CURDIR)/.build-address/report:detect_leaks=0
sanitize-thread: ## every test under ThreadSanitizer
sanitize-address: ## every test under AddressSanitizer
sanitize-thread sanitize-address: sanitize-%: deps
	@scripts/install-packages etcd-server
	@unset ARBITER_SEED; failed=0; rm -f .build-$*/report.*; \
	scripts/swift-test --sanitize=$* --scratch-path=.build-$* $(UNIT_TESTS) || failed=1; \
	scripts/swift-test --sanitize=$* --scratch-path=.build-$* $(INTEGRATION_TESTS) || failed=1; \
	! tail -n +1 .build-$*/report.* 2>/dev/null || failed=1; \
	exit $$failed

.PHONY: jitter-test
jitter-test: deps $(DAEMON) ## the integration tests with a daemon whose threads are delayed at random
	@scripts/install-packages etcd-server
	@scripts/jitter-test $(INTEGRATION_TESTS)

# SEED= replays one history (without it, one is drawn); SEEDS= runs this many in a row, STEPS= sets the length of each.
# CLUSTER=1 simulates several nodes on an etcd, DISK=1 a journal on a disk; FAULT= plants a mistake, by its name in ClusterFault.swift or
# DiskFault.swift.
SEEDS ?= 1
STEPS ?= 100000

.PHONY: simulate
simulate: $(RELEASE)/simulate ## long random histories of the core, of a cluster (CLUSTER=1), of a journal (DISK=1) or of thousands of tickets (CROWD=1): SEED=, SEEDS=, STEPS=, FAULT=
	@$< $(if $(CLUSTER),--cluster) $(if $(DISK),--disk) $(if $(CROWD),--crowd) $(if $(FAULT),--fault $(FAULT)) $(if $(SEED),--seed $(SEED)) --seeds $(SEEDS) --steps $(STEPS)

.PHONY: model
model: ## check the models of the cluster's protocol with spin, and that it finds the faults planted in them
	@scripts/install-packages spin gcc libc6-dev python3
	@scripts/model

FUZZ_SECONDS ?= 60
FUZZ_RUNS ?= -1

.PHONY: fuzz
fuzz: deps ## bodies, paths, files and kept bytes made up by libFuzzer: FUZZ_SECONDS=, FUZZ_RUNS=, FUZZ_TARGET=
	@ARBITER_FUZZ=1 swift build --sanitize=address --scratch-path .build-fuzz --product fuzz
	@mkdir -p .build-fuzz/corpus
	@SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 .build-fuzz/debug/fuzz -max_total_time=$(FUZZ_SECONDS) -runs=$(FUZZ_RUNS) -seed=$(or $(SEED),0) -max_len=4096 -artifact_prefix=.build-fuzz/ .build-fuzz/corpus

# Its seed, and what each step has said, are kept in this folder until all has passed; its tables beside it.
NIGHT := .build/nightly

.PHONY: nightly
nightly: programs ## everything that hunts, for hours: with a seed that is drawn, on after a failure, and from where it was stopped
	@scripts/install-packages $(NIGHT_PACKAGES)
	@mkdir -p $(NIGHT); [[ -e $(NIGHT)/seed ]] || { rm -f $(NIGHT).tables; echo $(or $(SEED),$$RANDOM$$RANDOM) > $(NIGHT)/seed; }
	@[[ $(or $(SEED),$$(< $(NIGHT)/seed)) == $$(< $(NIGHT)/seed) ]] || \
		{ echo "A night with the seed $$(< $(NIGHT)/seed) has not passed; without the folder $(NIGHT), another begins." >&2; exit 1; }
	@echo "The seed is $$(< $(NIGHT)/seed). What each step says is in $(NIGHT)."
	@SEED=$$(< $(NIGHT)/seed) STEPS_TABLE=$(NIGHT).tables \
		flock --verbose --nonblock --no-fork $(NIGHT) scripts/run-steps --jobs 2 --go-on --keep $(NIGHT) $(HUNTS)
	@rm -r $(NIGHT)

# Two at a time, the longest first.
HUNTS := sanitize-thread sanitize-address 'simulate DISK=1 SEEDS=200 STEPS=1000' 'cluster-test FAULTS=300 LOG_LEVEL=info' check \
	'fuzz FUZZ_SECONDS=600' 'lost-machine-test ROUNDS=100' model 'simulate STEPS=1000000' 'image-test WHOLE=1' \
	'simulate CLUSTER=1 SEEDS=200' damage 'soak FAULTS=0' 'soak FAULTS=0 DURABILITY=power' client-test jitter-test memory-test \
	'simulate CROWD=1 SEEDS=40 STEPS=20000'
NIGHT_PACKAGES := e2fsprogs etcd-server gcc iproute2 libc6-dev nftables nodejs openssl python3 python3-venv spin

.PHONY: bench
bench: deps $(DAEMON) ## the benchmarks: QUICK=1 measures less, ARBITERD= another daemon
	@scripts/install-packages python3 python3-venv
	@for package in redis-server etcd-server; do \
		scripts/install-packages $$package || echo "$$package cannot be installed: its columns are left out." >&2; done
	@scripts/bench $(if $(QUICK),--quick)

.PHONY: cluster-bench
cluster-bench: deps $(DAEMON) ## one to three nodes on three members of etcd, beside etcd's lock: QUICK=1, ARBITERD=
	@scripts/install-packages etcd-server python3 python3-venv
	@scripts/bench --cluster $(if $(QUICK),--quick)

.PHONY: others-bench
others-bench: deps $(DAEMON) ## what one client costs the others, which is a part of `bench`: QUICK=1, ARBITERD=
	@scripts/install-packages python3 python3-venv
	@scripts/bench --others $(if $(QUICK),--quick)

.PHONY: request-cost
request-cost: $(DAEMON) ## count what a request costs the daemon in instructions, code and allocations
	@scripts/install-packages gcc libc6-dev python3 valgrind
	@cd scripts && PYTHONDONTWRITEBYTECODE=1 python3 -m unittest request_cost.tests
	@scripts/request-cost

.PHONY: order
order: $(DAEMON) ## count which functions requests run, so that the next build lays them out together
	@scripts/install-packages gcc libc6-dev python3 valgrind
	@scripts/order-functions

.PHONY: bench-paste
bench-paste: ## put the tables and plots of the last run of the benchmarks into README.md and docs
	@PYTHONPATH=Benchmarks PYTHONDONTWRITEBYTECODE=1 python3 -m measure.paste .build-bench/results

.PHONY: bench-test
bench-test: ## tests of how the benchmarks compute and write their figures
	@scripts/install-packages python3
	@cd Benchmarks && PYTHONDONTWRITEBYTECODE=1 python3 -m unittest discover -s measure -t .

.PHONY: image
image: ## build the container image with docker, podman or buildah
	@if docker info >/dev/null 2>&1; then docker build --tag $(IMAGE) .; \
	elif command -v podman >/dev/null; then podman build --format docker --tag $(IMAGE) .; \
	elif command -v buildah >/dev/null; then buildah build --format docker --tag $(IMAGE) .; \
	else echo 'No container engine answers: start docker, or install podman or buildah.' >&2; exit 1; fi

.PHONY: image-test
image-test: $(if $(WHOLE),deps,$(BUILT)) ## make the image, drive it with client processes, kill it, and drive it again; WHOLE=1 compiles inside it
	@WHOLE=$(WHOLE) scripts/test-image

# Where `install` puts things; DESTDIR= is put before all of it.
PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
UNITDIR ?= $(PREFIX)/lib/systemd/system
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
TREE = PREFIX='$(PREFIX)' SYSCONFDIR='$(SYSCONFDIR)' UNITDIR='$(UNITDIR)' ZSHDIR='$(ZSHDIR)' DESTDIR='$(DESTDIR)' \
	scripts/install-tree

.PHONY: build-static
build-static: $(BUILT) ## build what `install` installs: programs that need no Swift, their man pages, completions

$(BUILT): $(RELEASE)/arbiterd $(RELEASE)/arbiterctl $(wildcard deploy/man/*) scripts/make-tree
	@scripts/make-tree

.PHONY: install
install: $(BUILT) ## install arbiterd, arbiterctl and the systemd units: PREFIX=, SYSCONFDIR=, UNITDIR=, ZSHDIR=, DESTDIR=
	@$(TREE) install

.PHONY: uninstall
uninstall: ## remove what `install` has installed, with the same PREFIX= and DESTDIR=
	@$(TREE) uninstall

.PHONY: install-test
install-test: $(BUILT) ## install into a folder, use what is there, and uninstall
	@scripts/test-install

.PHONY: deb
deb: $(BUILT) ## make the Debian package in .build-deb
	@scripts/install-packages dpkg-dev debhelper lintian
	@scripts/deb

.PHONY: deb-test
deb-test: deb ## install, upgrade, remove and purge the Debian package in a container (needs root)
	@scripts/test-deb

.PHONY: clean
clean: ## remove what was built
	rm -rf .build .build-docc .build-thread .build-address .build-fuzz .build-python .build-docs .build-site .build-bench
	rm -rf .build-deb Benchmarks/.build

.PHONY: programs
programs: $(PROGRAMS:%=$(RELEASE)/%) ## build every program for release, in .build/release

.PHONY: arbiterctl
arbiterctl: $(RELEASE)/arbiterctl ## build the command line client for release, as .build/release/arbiterctl

# They depend on the files, so that nothing is asked of Swift if nothing has changed; and are as old as the beginning of their build,
# so that what changes meanwhile is seen.
$(PROGRAMS:%=$(RELEASE)/%) $(RELEASE)/simulate: scripts/build-release scripts/functions.order $(shell find Sources Examples Package.swift openapi.yaml Clients/javascript/client.js Clients/javascript/client.d.ts -not -name '.*')
	@$(MAKE) deps
	@[[ -e $(RELEASE)/arbiterd ]] || echo 'Building for release. The first time takes some minutes; then only what has changed is built.'
	@mkdir -p .build; touch .build/$(@F).begun
	@scripts/build-release $(@F)
	@touch -r .build/$(@F).begun $@

.PHONY: deps
deps: swift
	@scripts/install-packages $(DEBIAN_PACKAGES)

.PHONY: swift
swift:
	@command -v swift >/dev/null || { echo 'Swift 6.3 is needed: https://www.swift.org/install/linux/' >&2; exit 1; }
