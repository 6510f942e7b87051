# gpuplan. Targets: all (default: build/gpuplan), check, tests, tools, lint, digests, oracles, validate,
# traces, bench, sanitize (4 to 8 min), fuzz (SECONDS=60 each), install, uninstall (PREFIX, DESTDIR), clean. SAN=1 builds with the sanitizers.
CC      ?= gcc
BUILD   ?= build
PREFIX  ?= /usr/local
OPT     ?= -O2
ORACLES ?= ../shared/oracles
FIGURES ?= ../shared/figures
TRACES  ?= ../shared/traces
VERSION := 0.1.0

WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
            -Wvla -Wwrite-strings -Wundef -Wformat=2 -Werror
CPPFLAGS += -Isim -I. -D_GNU_SOURCE -DGPUPLAN_VERSION='"$(VERSION)"' -DGPUPLAN_SHARE='"$(PREFIX)/share/gpuplan"' $(DEFS)
CFLAGS   += -std=c17 -g $(OPT) -fno-math-errno -ffp-contract=off -fexcess-precision=standard $(WARN)
LDLIBS   := -lyaml -lsqlite3 -lgsl -lgslcblas -ljansson -lcsv -lz -lzstd -lpthread -lm
SANITIZERS ?= address,undefined
ifdef SAN
CFLAGS   += -fsanitize=$(SANITIZERS) -fno-sanitize-recover=undefined
LDFLAGS  += -fsanitize=$(SANITIZERS)
endif
ifneq ($(findstring clang,$(CC)),)
CFLAGS   := $(filter-out -fexcess-precision=standard,$(CFLAGS))
endif

SRCS  := $(wildcard sim/*/*.c models/*.c)
OBJS  := $(SRCS:%.c=$(BUILD)/%.o)
LIB   := $(filter-out $(BUILD)/sim/cli/main.o,$(OBJS))
TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/test_*.c))
TOOLS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/oracle_*.c tests/bench_*.c))
FUZZERS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/fuzz_*.c))

all: $(BUILD)/gpuplan

$(BUILD)/gpuplan: $(OBJS)
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/libgpuplan.a: $(LIB)
	@rm -f $@
	@ar rcs $@ $^

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/tests/%: tests/%.c $(BUILD)/libgpuplan.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $< $(BUILD)/libgpuplan.a $(LDLIBS) -lcmocka

tests: $(TESTS)

tools: $(TOOLS)

$(FUZZERS): LDFLAGS += -fsanitize=fuzzer
fuzzers: $(FUZZERS)

sanitize: # all tests under address and undefined checks
	$(MAKE) SAN=1 OPT=-O1 BUILD=build-san all tests
	BUILD=build-san sh scripts/run_tests.sh

fuzz:
	FUZZ_SECONDS=$(or $(SECONDS),60) sh scripts/fuzz.sh

check: all tests tools
	BUILD=$(BUILD) sh scripts/check.sh --built

lint: all
	BUILD=$(BUILD) sh scripts/lint.sh

oracles: all $(TOOLS)
	BUILD=$(BUILD) sh scripts/oracles.sh $(ORACLES)

validate: all $(TOOLS)
	BUILD=$(BUILD) sh scripts/validate.sh $(FIGURES)

traces: all
	BUILD=$(BUILD) sh scripts/traces.sh $(TRACES)

bench: all $(TOOLS)
	BUILD=$(BUILD) sh scripts/bench.sh

digests: all
	BUILD=$(BUILD) sh scripts/digests.sh

install: all
	BUILD="$(BUILD)" DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" sh scripts/install.sh

uninstall:
	DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" sh scripts/install.sh --uninstall

clean:
	rm -rf $(BUILD) build-digest build-digest-*

.PHONY: all tests tools fuzzers fuzz sanitize check lint oracles validate traces bench digests install uninstall clean
-include $(OBJS:.o=.d) $(TESTS:=.d) $(TOOLS:=.d) $(FUZZERS:=.d)
