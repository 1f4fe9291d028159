# visdial: chat about a picture in a terminal.
#
#   make run     install what is missing (Debian), build, open the chat
#   make test    install what is missing (Debian), build, run every test
#
# Other targets: all check format lint san clang clean install. Variables: CC, BUILD, PREFIX, V=1.

CC      ?= gcc
BUILD   ?= build
PREFIX  ?= /usr/local
Q       := $(if $(V),,@)

# ---- what is needed ------------------------------------------------------------------------------
DEBIAN := gcc make pkg-config libncurses-dev libchafa-dev libstb-dev libpng-dev libopenblas-dev \
          libyajl-dev libutf8proc-dev libcmocka-dev tmux
PKGS   := ncursesw chafa libpng openblas yajl libutf8proc

# ---- what is built -------------------------------------------------------------------------------
ENGINE   := $(wildcard engine/*.c)
FEATURES := $(wildcard features/*.c)
BLOCKS   := $(wildcard assets/blocks/*.c)
TUI      := $(filter-out tui/main.c,$(wildcard tui/*.c))
TESTS    := $(wildcard tests/*/test_*.c)
HELPERS  := $(wildcard tests/support/*.c)

WARN   := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wvla
OPT    ?= -O3 -g
override CFLAGS += -std=gnu11 $(OPT) $(WARN) -fno-math-errno -fno-trapping-math -pthread -I. \
                   -include engine/banned.h -DVD_PREFIX='"$(PREFIX)"' $(SAN)
override LDFLAGS += -pthread $(SAN)
# Asked of pkg-config only when something is compiled, so that `make deps` works without it.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell pkg-config --cflags $(PKGS)))$(PKG_CFLAGS)
PKG_LIBS   = $(eval PKG_LIBS := $$(shell pkg-config --libs $(PKGS)))$(PKG_LIBS)

obj      = $(patsubst %.c,$(BUILD)/%.o,$(1))
LIB_OBJ := $(call obj,$(ENGINE) $(FEATURES) $(BLOCKS) $(TUI))
LIB     := $(BUILD)/libvisdial.a
TEST_BIN := $(patsubst tests/%.c,$(BUILD)/tests/%,$(TESTS))

.PHONY: all deps run test check format lint san clang clean install help
.SECONDARY:
all: $(BUILD)/visdial

$(LIB): $(LIB_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/visdial: $(BUILD)/tui/main.o $(LIB)
	@echo "  LINK $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(PKG_LIBS) -lm

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(call obj,$(HELPERS)) $(LIB)
	@echo "  LINK $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(PKG_LIBS) -lcmocka -lm

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC   $<"
	$(Q)$(CC) $(CFLAGS) $(PKG_CFLAGS) -MMD -MP -c -o $@ $<

clean:
	rm -rf build

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
