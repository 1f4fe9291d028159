# visdial: chat about a picture in a terminal. `make help` lists the targets.
#
# Variables: CC, BUILD (build directory), PREFIX, DESTDIR, CFLAGS and LDFLAGS (added to ours),
# OPT (-O3 -g), SAN (sanitizer flags), WERROR=1, V=1 (show commands), JOBS, ARGS (for run),
# T (for test and bench: only the programs whose path contains it). JOBS: how much at a time.

ifeq ($(origin CC),default)
CC        := gcc
endif
ifeq ($(origin CXX),default)
CXX       := g++
endif
BUILD     ?= build
PREFIX    ?= /usr/local
JOBS      ?= $(shell nproc 2>/dev/null || echo 2)
Q         := $(if $(V),,@)
MAKEFLAGS += -r
,         := ,

# ---- what is needed ------------------------------------------------------------------------------
# Debian packages, and the names by which pkg-config knows the libraries.
NEED_RUN  := gcc libc6-dev make pkg-config libncurses-dev libchafa-dev libglib2.0-dev \
             libpng-dev libjpeg-dev libstb-dev libopenblas-dev libyajl-dev libutf8proc-dev \
             libhdf5-dev libzip-dev libpcre2-dev libstemmer-dev
NEED_TEST := g++ libopenmpi-dev openmpi-bin libcmocka-dev tmux python3
NEED_LINT := clang clang-format clang-tidy
NEED_PAGE := chromium
NEED_TERM := xterm xvfb imagemagick xdotool
PKGS      := ncursesw chafa glib-2.0 libpng libjpeg openblas yajl libutf8proc hdf5 libzip libpcre2-8
export PKGS

# Asked of pkg-config only when something is compiled, so that `make run` can install it first.
asked      = $(or $(shell pkg-config $(1) $(PKGS)),$(error libraries are missing; "make deps" \
               installs them))
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(patsubst -I%,-isystem %,$$(call asked,--cflags)))$(PKG_CFLAGS)
PKG_LIBS   = $(eval PKG_LIBS := $$(call asked,--libs) -lstemmer)$(PKG_LIBS)

# ---- what is built -------------------------------------------------------------------------------
below      = $(wildcard $(foreach f,$(1),$(f)/*.$(2) $(f)/*/*.$(2) $(f)/*/*/*.$(2)))
FLOORS    := engine features assets/blocks tui
MPI_SRC   := engine/train/mpi/group_mpi.c
LIB_SRC   := $(filter-out tui/main.c $(MPI_SRC),$(call below,$(FLOORS),c))
TEST_SRC  := $(filter-out $(WITHOUT:%=tests/%.c),$(wildcard tests/*/test_*.c))
BENCH_SRC := $(filter-out tests/bench/bench_cuda.c,$(wildcard tests/bench/bench_*.c))
SOURCES   := $(LIB_SRC) tui/main.c $(filter-out tests/headless/% tests/faults/%,$(wildcard tests/*/*.c))
HEADERS   := $(call below,$(FLOORS) tests,h)

obj        = $(patsubst %.c,$(BUILD)/%.o,$(1))
program    = $(patsubst %.c,$(BUILD)/%,$(1))
matching   = $(foreach name,$(1),$(if $(T),$(if $(findstring $(T),$(name)),$(name)),$(name)))
LIB       := $(BUILD)/libvisdial.a
LIB_OBJ   := $(call obj,$(LIB_SRC))
SUPPORT   := $(call obj,$(wildcard tests/support/*.c))
TEST_BIN  := $(call program,$(call matching,$(TEST_SRC)))
BENCH_BIN := $(call program,$(call matching,$(BENCH_SRC)))

# The network in double precision, for tests of gradients by finite differences (tests/double/).
DOUBLE    := $(BUILD)/double/libnetwork.a
# Without products of floats alone.
DOUBLE_OBJ := $(patsubst %.c,$(BUILD)/double/%.o,$(filter-out %/blas.c %/gemv.c %/skinny_gemm.c, \
                $(call below,$(addprefix engine/,base backend graph networks),c)))

# The GPU backend: a plugin compiled by nvcc, which takes two minutes of processor time for all its
# targets: `make cuda` builds it, `make install` too where nvcc is found (CUDA=no: not), `make` and
# `make run` only with CUDA=yes. For the tests the same files compiled for the host (tests/cuda_host/).
CUDA_SRC  := $(wildcard cuda/*.cu)
CUDA_HOST := $(wildcard tests/cuda_host/*.cpp)
CUDA_TEXTS := $(CUDA_SRC) $(CUDA_HOST) $(wildcard cuda/*.cuh tests/headless/*.c tests/faults/*.c) $(MPI_SRC)
HOST_PLUGIN := $(BUILD)/host/visdial-cuda.so
NVCC      ?= $(firstword $(wildcard $(addsuffix /bin/nvcc,$(CUDA_HOME) $(CUDA_PATH))) \
               $(shell command -v nvcc 2>/dev/null) $(wildcard $(addsuffix /bin/nvcc, \
               /usr/local/cuda /usr/local/cuda-* /opt/cuda /opt/cuda-* /usr/lib/cuda \
               /usr/lib/nvidia-cuda-toolkit)))
CUDA      ?= $(if $(NVCC),auto,no)
CUDA_PLUGIN := $(if $(filter yes,$(CUDA)),$(BUILD)/visdial-cuda.so)
# Of these the toolkit's own; PTX of the last one serves GPUs that come later.
CUDA_ARCHS ?= 75 80 86 89 90 100 120
archs      = $(or $(filter $(patsubst compute_%,%,$(shell $(NVCC) --list-gpu-arch 2>/dev/null)), \
               $(CUDA_ARCHS)),$(error $(if $(NVCC),$(NVCC) knows none of the GPUs $(CUDA_ARCHS) \
               (CUDA_ARCHS): CUDA 12 or newer is needed,there is no nvcc in PATH$(,) CUDA_HOME$(,) \
               CUDA_PATH or /usr/local/cuda*); CUDA=no builds all but the GPU backend))
gencode    = $(foreach arch,$(1),-gencode arch=compute_$(arch),code=sm_$(arch)) \
             -gencode arch=compute_$(lastword $(1)),code=compute_$(lastword $(1))
GENCODE    = $(eval GENCODE := $$(call gencode,$$(archs)))$(GENCODE)
# Training in several processes: a plugin too, where there is an mpicc.
MPICC     ?= $(shell command -v mpicc 2>/dev/null)
MPI_PLUGIN := $(if $(MPICC),$(BUILD)/visdial-mpi.so)
PLUGINS    = $(MPI_PLUGIN) $(CUDA_PLUGIN)

OPT       ?= -O3 -g
WARN      := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wvla
# Not -ffast-math: it folds isnan() away.
C_FLAGS   := -std=gnu11 $(OPT) $(WARN) $(if $(WERROR),-Werror) -fno-math-errno -fno-trapping-math \
             -pthread -I. -include engine/base/banned.h $(SAN) $(CFLAGS)
LD_FLAGS  := -pthread -Wl,--as-needed $(SAN) $(LDFLAGS)

# ---- what is installed ---------------------------------------------------------------------------
DEST       = $(DESTDIR)$(PREFIX)
ASSETS     = $(patsubst assets/%,%,$(filter-out assets/blocks/% assets/screenshot%,$(shell find assets -type f)))
MAN             := share/man/man1/visdial.1
BASH_COMPLETION := share/bash-completion/completions/visdial
ZSH_COMPLETION  := share/zsh/site-functions/_visdial
FISH_COMPLETION := share/fish/vendor_completions.d/visdial.fish

# ---- what to ask for -----------------------------------------------------------------------------
# Runs this Makefile again, in parallel: it then sees what `deps` installed.
AGAIN      = +@$(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

.PHONY: cuda install-cuda deb headless-links test-cuda bench-cuda all run test programs deps bench torch san san-programs tsan \
        tsan-programs fuzz fuzz-programs faults kill clang check format format-check lint tidy install \
        uninstall clean help always
.SECONDARY:
.DELETE_ON_ERROR:

all: $(BUILD)/visdial $(PLUGINS) ## build the program (the default)

run: ## install what is missing, build, open the chat; ARGS="ask --help" runs a command
	@.ci/packages $(NEED_RUN)
	$(AGAIN) all
	@$(BUILD)/visdial $(ARGS)

test: ## install what is missing, build, run the tests; T=wrap: only those with "wrap" in the path
	@.ci/packages $(NEED_RUN) $(NEED_TEST)
	$(AGAIN) all programs
	@VISDIAL_BIN=$(BUILD)/visdial tests/run $(TEST_BIN)

programs: $(TEST_BIN) $(BENCH_BIN)

deps: ## install what is missing, including developer tools
	@.ci/packages $(NEED_RUN) $(NEED_TEST) $(NEED_LINT) $(NEED_PAGE) $(NEED_TERM)

bench: ## measure speed, and PyTorch's if "make torch" has installed it
	@.ci/packages $(NEED_RUN) $(NEED_TEST)
	$(AGAIN) all $(BENCH_BIN)
	@for bench in $(BENCH_BIN); do VISDIAL_BIN=$(BUILD)/visdial $$bench || exit 1; done

torch: ## install PyTorch below build/, for bench only
	@.ci/packages python3-venv
	@test -x build/torch/bin/python || python3 -m venv build/torch
	@build/torch/bin/python -m pip install --quiet --upgrade torch numpy
	@build/torch/bin/python tests/bench/mvan_torch.py --versions

# Tests and benchmarks of the GPU backend for machines that have a GPU and little else: a compiler
# and the CUDA toolkit. tests/headless/ stands in for cmocka and yajl.
HEADLESS  := $(BUILD)/headless
HEADLESS_OBJ := $(patsubst %.c,$(HEADLESS)/%.o,$(filter-out $(MPI_SRC) engine/base/json_stream.c engine/base/utf8.c,$(call below,engine,c)) \
                $(wildcard tests/headless/*.c) $(addprefix tests/support/,support.c golden.c backend.c trial.c \
                random_model.c attentions.c small_batch.c small_dialog.c small_trainer.c))
CUDA_TESTS := $(addprefix $(HEADLESS)/tests/,backend/test_operations backend/test_tape_operations \
              backend/test_lstm golden/test_network golden/test_networks golden/test_captions unit/test_dialog \
              unit/test_encoders_chat)

# That these link without the libraries, on a machine that has them: of the objects that the tests
# have anyway.
HEADLESS_LINKS := $(patsubst $(HEADLESS)/%,$(HEADLESS)/links/%,$(CUDA_TESTS) $(HEADLESS)/tests/bench/bench_cuda)
headless-links: $(HEADLESS_LINKS) ## check that the tests of the GPU backend need no libraries

test-cuda: ## test the GPU backend on a GPU; needs only a C compiler and the CUDA toolkit
	$(AGAIN) $(BUILD)/visdial-cuda.so $(CUDA_TESTS)
	@VISDIAL_TEST_PLUGIN=$(BUILD)/visdial-cuda.so tests/backend/run_cuda $(CUDA_TESTS)

bench-cuda: ## measure the GPU backend, and PyTorch where python3 (or $VISDIAL_TORCH) has it
	$(AGAIN) $(BUILD)/visdial-cuda.so $(HEADLESS)/tests/bench/bench_cuda
	@set -o pipefail; VISDIAL_TEST_PLUGIN=$(BUILD)/visdial-cuda.so \
	    $(HEADLESS)/tests/bench/bench_cuda | tee $(BUILD)/bench-cuda.txt
	@gpu=$$(sed -n '1s/^# \(NVIDIA \)\?\([^,]*\),.*/\2/p' $(BUILD)/bench-cuda.txt | tr ' /' '--'); \
	    [ -n "$$gpu" ] || exit 0; \
	    file="tests/bench/results/$$gpu-$$(date +%Y-%m-%d).txt"; mkdir -p tests/bench/results && \
	    cp $(BUILD)/bench-cuda.txt "$$file" && echo "kept as $$file"
bench-cuda: SHELL := /bin/bash

# X-programs builds what X runs, and only that: .ci/run asks for it ahead. Left out are tests whose minutes
# are Python's or arithmetic's, of code that other tests run: those in double precision are of the same
# sources.
#
# With clang, in half of the time that GCC's take: it looks after a loop only once it is vectorized.
SAN_BUILD := BUILD=build/san CC=clang OPT='-O2 -g1 -fno-omit-frame-pointer' \
             SAN='-fsanitize=address,undefined -fno-sanitize-recover=undefined' \
             WITHOUT='unit/test_blocks_solver unit/test_experiments unit/test_outlier \
                      double/test_gradient double/test_captions' BENCH_SRC=
san: san-programs ## run the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	+@ASAN_OPTIONS=quarantine_size_mb=32 TEST_TIMEOUT=900 $(MAKE) --no-print-directory $(SAN_BUILD) test

san-programs:
	@.ci/packages $(NEED_RUN) $(NEED_TEST) clang libclang-rt-dev
	+@$(MAKE) --no-print-directory $(SAN_BUILD) -j$(JOBS) all programs

# What several threads do at the same time. With clang: GCC's loops for several instruction sets
# (VD_TARGET_CLONES) are chosen before its ThreadSanitizer has started, and crash.
TSAN_TESTS := $(addprefix $(BUILD)/tsan/tests/,unit/test_regions_threads unit/test_parallel \
              unit/test_group_threads unit/test_data_loader unit/test_worker unit/test_chat_lanes \
              unit/test_eval unit/test_eval_threads unit/test_compare_command unit/test_train screen/test_tmux)
tsan: tsan-programs ## run the parallel code and the chat under ThreadSanitizer
	@TSAN_OPTIONS=suppressions=$(CURDIR)/tests/tsan.supp VISDIAL_BIN=$(BUILD)/tsan/visdial \
	    TEST_TIMEOUT=900 tests/run $(TSAN_TESTS)

tsan-programs:
	@.ci/packages $(NEED_RUN) $(NEED_TEST) clang libclang-rt-dev
	+@$(MAKE) --no-print-directory BUILD=$(BUILD)/tsan CC=clang OPT='-O1 -g1' \
	    SAN=-fsanitize=thread -j$(JOBS) $(BUILD)/tsan/visdial $(TSAN_TESTS)

# libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer.
SECONDS   ?= 60
fuzz: fuzz-programs ## fuzz every file reader for SECONDS (60) each; T=png: only formats with "png" in the name
	@tests/fuzz/run build/fuzz/tests/fuzz/fuzz $(SECONDS) $(T)

fuzz-programs:
	@.ci/packages $(NEED_RUN) $(NEED_TEST) clang libclang-rt-dev
	+@$(MAKE) --no-print-directory BUILD=build/fuzz CC=clang OPT='-O1 -g1' \
	    SAN='-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined' \
	    -j$(JOBS) build/fuzz/tests/fuzz/fuzz

POINTS    ?= 0
faults: ## make every allocation and system call of the commands fail once; POINTS=30: only 30 of them
	@.ci/packages $(NEED_RUN) python3 strace
	$(AGAIN) $(BUILD)/visdial $(BUILD)/tests/faults/memory.so $(BUILD)/tests/faults/short.so
	@tests/faults/run $(BUILD)/visdial $(BUILD)/tests/faults --points $(POINTS) \
	    $(if $(T),--only $(T))

KILLS     ?= 100
kill: ## kill a training run KILLS (100) times, resume it each time, and compare the models
	@.ci/packages $(NEED_RUN) $(NEED_TEST)
	$(AGAIN) all $(BUILD)/tests/unit/test_train_killed
	@VISDIAL_KILLS=$(KILLS) VISDIAL_BIN=$(BUILD)/visdial TEST_TIMEOUT=3600 \
	    tests/run $(BUILD)/tests/unit/test_train_killed

# Without the loops that GCC compiles for several instruction sets (VD_TARGET_CLONES): the plain code.
CLANG_TESTS := $(addprefix build/san/tests/golden/test_,captions network networks training typed)
clang: san-programs ## build all with clang and sanitizers, test the portable code against the golden numbers
	@VISDIAL_BIN=build/san/visdial VISDIAL_CPU=portable tests/run $(CLANG_TESTS)

check: ## check includes between folders, sizes, and forbidden words
	@.ci/packages $(NEED_RUN) python3
	$(AGAIN) $(LIB)
	@BUILD=$(BUILD) tests/check

format: ## format the sources
	@.ci/packages clang-format
	@clang-format -i $(SOURCES) $(HEADERS) $(CUDA_TEXTS)

format-check: ## check the format of the sources
	@.ci/packages clang-format
	@clang-format --dry-run -Werror $(SOURCES) $(HEADERS) $(CUDA_TEXTS)

lint: ## run clang-tidy
	@.ci/packages $(NEED_RUN) $(NEED_TEST) clang-tidy
	$(AGAIN) tidy

tidy: $(patsubst %.c,$(BUILD)/%.tidy,$(SOURCES))

cuda: ## build the GPU backend; needs nvcc (found by CUDA_HOME, NVCC or PATH)
	$(AGAIN) $(BUILD)/visdial-cuda.so

# Where nvcc is found, but does not work, the program is installed without it.
install-cuda:
ifeq ($(CUDA),auto)
	+@if $(MAKE) --no-print-directory -j$(JOBS) $(BUILD)/visdial-cuda.so; then \
	    install -D -m 755 $(BUILD)/visdial-cuda.so "$(DEST)/lib/visdial/visdial-cuda.so"; else \
	    echo "$(NVCC) could not build the GPU backend: installed without it (CUDA=no: not tried)"; fi
endif

install: all install-cuda $(BUILD)/visdial.1 $(addprefix $(BUILD)/completion.,bash zsh fish) ## install to $(DESTDIR)PREFIX (/usr/local)
	install -D -m 755 $(BUILD)/visdial "$(DEST)/bin/visdial"
	@for plugin in $(PLUGINS); do \
	    install -D -m 755 $$plugin "$(DEST)/lib/visdial/$$(basename $$plugin)" || exit 1; done
	@for file in $(ASSETS); do \
	    install -D -m 644 assets/$$file "$(DEST)/share/visdial/$$file" || exit 1; done
	install -D -m 755 engine/model/checkpoint.py "$(DEST)/share/visdial/checkpoint.py"
	install -D -m 644 $(BUILD)/visdial.1 "$(DEST)/$(MAN)"
	install -D -m 644 $(BUILD)/completion.bash "$(DEST)/$(BASH_COMPLETION)"
	install -D -m 644 $(BUILD)/completion.zsh "$(DEST)/$(ZSH_COMPLETION)"
	install -D -m 644 $(BUILD)/completion.fish "$(DEST)/$(FISH_COMPLETION)"

uninstall: ## remove what install put there
	rm -f "$(DEST)/bin/visdial" "$(DEST)/$(MAN)" "$(DEST)/$(BASH_COMPLETION)" \
	    "$(DEST)/$(ZSH_COMPLETION)" "$(DEST)/$(FISH_COMPLETION)"
	rm -rf "$(DEST)/share/visdial" "$(DEST)/lib/visdial"

# From .ci/debian: as a native package, of the files as they are here.
VERSION    = $(shell sed -n 's/.*VD_VERSION "\(.*\)"/\1/p' tui/base/output.h)
deb: ## build a Debian package below build/deb
	@.ci/packages $(NEED_RUN) libopenmpi-dev debhelper dpkg-dev
	rm -rf build/deb && mkdir -p build/deb/source
	tar -c --exclude=./build --exclude=./.git --exclude=./.ci --exclude=./tests . | tar -x -C build/deb/source
	cp -r .ci/debian build/deb/source/debian
	sed -i 's/@BUILD@/$(subst $() ,$(,) ,$(filter-out gcc libc6-dev make,$(strip $(NEED_RUN))))/' \
	    build/deb/source/debian/control
	printf 'visdial (%s) unstable; urgency=medium\n\n  * Built from the sources.\n\n -- %s  %s\n' \
	    "$(VERSION)" "$$(sed -n 's/^Maintainer: //p' .ci/debian/control)" "$$(date -R)" \
	    >build/deb/source/debian/changelog
	cd build/deb/source && env -u MAKEFLAGS -u MFLAGS dpkg-buildpackage -b -us -uc -d
	@ls -l build/deb/*.deb

clean: ## remove build/
	rm -rf build

help: ## show this
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1\t\2/p' Makefile | expand -t 16

# ---- rules ---------------------------------------------------------------------------------------
# Rewritten only when the text differs, so that other flags or a removed file rebuild what depends on them.
$(BUILD)/flags: TEXT = $(CC) $(C_FLAGS) $(LD_FLAGS)
$(BUILD)/members: TEXT = $(LIB_SRC)
$(BUILD)/prefix: TEXT = $(PREFIX)
$(BUILD)/flags $(BUILD)/members $(BUILD)/prefix: always
	$(shell mkdir -p $(@D))$(file >$@.new,$(TEXT))
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# These two are opened when they are needed; the names they have at run time. (close_range is an
# extension of glibc.)
soname = $(firstword $(foreach name,$(1),$(shell readelf -d "$$($(CC) -print-file-name=$(name))" \
             2>/dev/null | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')))
$(BUILD)/features/regions/hdf5_library.o: DEFINE = -D_GNU_SOURCE -DVD_HDF5_LIBRARY='"$(call soname,libhdf5_serial.so libhdf5.so)"'
$(BUILD)/features/regions/hdf5_library.tidy: DEFINE = -D_GNU_SOURCE
$(BUILD)/features/regions/zip.o: DEFINE = -DVD_ZIP_LIBRARY='"$(call soname,libzip.so)"'

# These use extensions of glibc: fopencookie, memfd_create.
$(foreach f,tui/base/safe_output tui/screen/rescue,$(BUILD)/$(f).o $(BUILD)/$(f).tidy): DEFINE = -D_GNU_SOURCE

# Only these know where the program is installed.
knows_prefix = $(foreach f,engine/base/plugin tui/session/world,$(BUILD)/$(f).$(1))
PREFIX_OBJ := $(call knows_prefix,o) $(addsuffix /engine/base/plugin.o,$(HEADLESS) $(BUILD)/double)
$(PREFIX_OBJ): $(BUILD)/prefix
$(PREFIX_OBJ) $(call knows_prefix,tidy): DEFINE = -DVD_PREFIX='"$(PREFIX)"'

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo "  CC   $<"
	$(Q)$(CC) $(C_FLAGS) $(DEFINE) $(PKG_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/tui/page/html.o: tui/page/page.css tui/page/page.js

$(BUILD)/host/%.o: % $(BUILD)/flags
	@mkdir -p $(@D)
	@echo "  C++  $< (for the host)"
	$(Q)$(CXX) -std=c++17 -O2 -g -fPIC -fvisibility=hidden -Wall -Wextra -Wno-unused-function \
	    $(if $(WERROR),-Werror) -pthread -I. -Itests/cuda_host $(PKG_CFLAGS) -MMD -MP -c -o $@ -x c++ $<

$(BUILD)/visdial-mpi.so: $(MPI_SRC) engine/train/group.h $(BUILD)/flags
	@echo "  MPI  $<"
	$(Q)$(MPICC) -std=gnu11 -O2 -Wall -Wextra $(if $(WERROR),-Werror) -fPIC -shared \
	    -fvisibility=hidden -I. -o $@ $<

$(BUILD)/tests/backend/test_group $(BUILD)/tests/backend/test_together: | $(MPI_PLUGIN)

$(BUILD)/cuda/%.o: cuda/%.cu $(BUILD)/flags
	@mkdir -p $(@D)
	@echo "  NVCC $<"
	$(Q)$(NVCC) -std=c++17 -O3 -lineinfo --extended-lambda $(GENCODE) -Xcompiler -fPIC,-fvisibility=hidden -I. \
	    -MMD -MP -c -o $@ $<

$(BUILD)/visdial-cuda.so: $(patsubst cuda/%.cu,$(BUILD)/cuda/%.o,$(CUDA_SRC))
	@echo "  LINK $@"
	$(Q)$(NVCC) -shared -cudart static -o $@ $^ -lcublas \
	    $(foreach d,$(wildcard $(dir $(NVCC))../lib64),-Xlinker -rpath=$(realpath $(d)))

$(HEADLESS)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo "  CC   $< (headless)"
	$(Q)$(CC) $(C_FLAGS) $(DEFINE) -Itests/headless -MMD -MP -c -o $@ $<

$(HEADLESS)/tests/%: $(HEADLESS)/tests/%.o $(HEADLESS_OBJ)
	@echo "  LINK $@"
	$(Q)$(CC) $(LD_FLAGS) -o $@ $^ -ldl -lm

$(HEADLESS)/tests/bench/bench_cuda: $(HEADLESS)/tests/bench/count_operations.o
$(HEADLESS)/links/tests/bench/bench_cuda: $(BUILD)/tests/bench/count_operations.o

STANDS_IN := $(HEADLESS)/tests/headless/%
$(HEADLESS)/links/tests/%: $(BUILD)/tests/%.o $(patsubst $(HEADLESS)/%,$(BUILD)/%,$(filter-out $(STANDS_IN),$(HEADLESS_OBJ))) \
                          $(filter $(STANDS_IN),$(HEADLESS_OBJ))
	@mkdir -p $(@D)
	$(Q)$(CC) $(LD_FLAGS) -o $@ $^ -ldl -lm -lcmocka

# An empty library in place of the driver.
$(BUILD)/host/libcuda.so.1:
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -o $@ -x c /dev/null

# An NCCL for tests of several processes, which reaches device memory through the host plugin.
$(BUILD)/host/libnccl.so.2: tests/backend/fake_nccl.c $(HOST_PLUGIN)
	@echo "  CC   $< (for the host)"
	$(Q)$(CC) -std=gnu11 -O2 -g -Wall -Wextra $(if $(WERROR),-Werror) -fPIC -shared \
	    -fvisibility=hidden -o $@ $< -L$(BUILD)/host -l:visdial-cuda.so -Wl,-rpath,'$$ORIGIN'

# The plugins that these tests load.
$(BUILD)/tests/backend/test_fallback: | $(HOST_PLUGIN)
$(BUILD)/tests/backend/test_together: | $(HOST_PLUGIN) $(BUILD)/host/libcuda.so.1 \
    $(BUILD)/host/libnccl.so.2 $(BUILD)/visdial
$(BUILD)/tests/backend/test_plugin: | $(HOST_PLUGIN) $(BUILD)/host/libcuda.so.1 $(BUILD)/visdial $(addprefix $(BUILD)/tests/,\
    backend/test_operations backend/test_tape_operations backend/test_lstm backend/test_pictures \
    golden/test_network golden/test_networks \
    golden/test_captions golden/test_training unit/test_dialog unit/test_encoders_chat)

$(HOST_PLUGIN): $(patsubst %,$(BUILD)/host/%.o,$(CUDA_SRC) $(CUDA_HOST))
	@echo "  LINK $@"
	$(Q)$(CXX) -shared -pthread -o $@ $^ $(shell pkg-config --libs openblas)

$(LIB): $(LIB_OBJ) $(BUILD)/members
	@echo "  AR   $@"
	$(Q)rm -f $@ && $(AR) rcs $@ $(LIB_OBJ)

$(BUILD)/visdial: $(BUILD)/tui/main.o $(LIB)
	@echo "  LINK $@"
	$(Q)$(CC) $(LD_FLAGS) -o $@ $^ $(PKG_LIBS) -lm

# The program knows its commands; it writes the manual page and the shells' completions.
$(BUILD)/visdial.1: $(BUILD)/visdial
	$(Q)$< help --manual >$@

$(BUILD)/completion.%: $(BUILD)/visdial
	$(Q)$< help --completion $* >$@

$(BUILD)/double/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo "  CC   $< (double precision)"
	$(Q)$(CC) $(C_FLAGS) $(DEFINE) -DVD_DOUBLE $(PKG_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/tests/double/%.o $(BUILD)/tests/double/%.tidy: DEFINE = -DVD_DOUBLE

$(DOUBLE): $(DOUBLE_OBJ) $(BUILD)/members
	@echo "  AR   $@"
	$(Q)rm -f $@ && $(AR) rcs $@ $(DOUBLE_OBJ)

$(BUILD)/tests/double/%: $(BUILD)/tests/double/%.o $(DOUBLE)
	@echo "  LINK $@"
	$(Q)$(CC) $(LD_FLAGS) -o $@ $^ $(PKG_LIBS) -lcmocka -lm

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(SUPPORT) $(LIB)
	@echo "  LINK $@"
	$(Q)$(CC) $(LD_FLAGS) -o $@ $^ $(PKG_LIBS) -lcmocka -lm

$(BUILD)/tests/faults/%.so: tests/faults/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -Wall -Wextra $(if $(WERROR),-Werror) -D_GNU_SOURCE -fPIC -shared -o $@ $< -ldl

$(BUILD)/tests/fuzz/fuzz: LD_FLAGS += -fsanitize=fuzzer

# engine/base/error.c defines what tests/lint.h replaces. The analyzer follows a function for
# 75,000 steps instead of 225,000, in less than half the time; where functions take longest, it
# reaches every block all the same.
$(BUILD)/%.tidy: %.c $(HEADERS) .clang-tidy tests/.clang-tidy tests/lint.h
	@mkdir -p $(@D)
	@echo "  TIDY $<"
	$(Q)clang-tidy --quiet $< -- $(C_FLAGS) $(DEFINE) $(PKG_CFLAGS) \
	    -Xclang -analyzer-config -Xclang max-nodes=75000 \
	    $(if $(filter-out engine/base/error.c,$<),-include tests/lint.h) 2>&1 | \
	    { grep -v -E '^[0-9]+ warnings? generated\.$$' || true; } >$@.new; \
	    if grep -q -E '(warning|error): ' $@.new; then cat $@.new; exit 1; else mv $@.new $@; fi

-include $(patsubst cuda/%.cu,$(BUILD)/cuda/%.d,$(CUDA_SRC)) $(HEADLESS_OBJ:.o=.d) $(CUDA_TESTS:=.d) $(HEADLESS)/tests/bench/bench_cuda.d
-include $(DOUBLE_OBJ:.o=.d) $(patsubst %.c,$(BUILD)/%.d,$(SOURCES)) $(patsubst %,$(BUILD)/host/%.d,$(CUDA_SRC) $(CUDA_HOST))
