# SPDX-License-Identifier: GPL-2.0-only
# nettape: see `make help`. Everything that is built goes below build/.

VERSION := 0.1.0
CC      ?= gcc
CLANG   ?= clang
# The first bpftool that works: Ubuntu's is a script that wants the running kernel's own, though any will do.
ifndef BPFTOOL
BPFTOOL := $(shell for tool in bpftool /usr/sbin/bpftool /usr/lib/linux-tools/*/bpftool \
		/usr/lib/linux-tools-*/bpftool; do \
		$$tool version >/dev/null 2>&1 && { echo $$tool; exit; }; done; echo bpftool)
endif
DESTDIR ?=
PREFIX  ?= /usr/local
BUILD   ?= build

CFLAGS  ?= -O2 -g
# For developers: a compiler that is newer than this tree may warn of more.
werror  := $(if $(filter 1,$(WERROR)),-Werror)
WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wformat=2 $(werror)
CPPALL  := -std=gnu11 -D_GNU_SOURCE -I. -I$(BUILD) -DNT_VERSION='"$(VERSION)"' $(WARN)
# Without the distribution's checks of buffers, which are fewer: unit tests put functions of their own before libc's.
# -g1 has the lines that a sanitizer names, and compiles in three quarters of the time; for a debugger: SAN_DEBUG=-g.
SAN_DEBUG ?= -g1
SAN     := -U_FORTIFY_SOURCE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 \
	   $(SAN_DEBUG)

# V=1 shows the commands.
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' '$(1)' '$(2)')

RECORD_LIBS := -lbpf -lelf -lz -llz4 -lpthread -lm
READER_LIBS := -lsqlite3 -lelf -liberty -llz4 -lz -lpthread -lm
REPORT_LIBS := -ljson-c $(READER_LIBS)
SERVE_LIBS  := -lmicrohttpd $(READER_LIBS)

shared_src := $(sort $(wildcard schema/*.c schema/cli/*.c))
record_src := $(sort $(wildcard record/*.c))
report_src := $(sort $(filter-out report/extension.c report/serve/%,$(shell find report -name '*.c')))
serve_src  := $(sort $(wildcard report/serve/*.c))
# Parts of nettape-report that the others are made of, too.
reader_src := $(filter $(patsubst %,report/%/%,db rows symbols timeline tape out util),$(report_src))
ext_src    := report/extension.c $(reader_src)
serve_with := $(filter $(patsubst %,report/cmd/%.c,answer options sql) report/query/% report/export/%,$(report_src)) \
	      $(reader_src)
support_src := $(sort $(wildcard tests/support/*.c))
bpf_src    := $(sort $(wildcard bpf/*.bpf.c))
unit_src   := $(sort $(wildcard tests/unit/*/*_test.c))
fuzz_src   := $(sort $(wildcard tests/fuzz/*_fuzz.c))
tool_src   := $(sort $(wildcard tests/tools/*.c))

obj = $(patsubst %.c,$(BUILD)/$(1)/%.o,$(2))

.PHONY: all record report install uninstall deb clean help mutate check check-all check-list check-vm check-fresh \
	demo bench bench-charge bench-report bench-servers bench-sql readme fuzz deps format
.DELETE_ON_ERROR:
# nettape-serve is made where its library is.
has_microhttpd := $(shell printf '\043include <microhttpd.h>' | $(CC) $(CFLAGS) -E - >/dev/null 2>&1 && echo yes)
serve := $(if $(has_microhttpd),$(BUILD)/nettape-serve)
all: $(BUILD)/nettape-record $(BUILD)/nettape-report $(BUILD)/nettape_sqlite.so $(serve)
record: $(BUILD)/nettape-record ## the recorder alone: needs clang, bpftool, libbpf
report: $(BUILD)/nettape-report $(BUILD)/nettape_sqlite.so $(serve) ## what reads tapes alone: needs no BPF
ifeq ($(serve),)
all report:
	@echo "nettape-serve is not made: libmicrohttpd-dev is missing (make deps installs it)"
endif

# ---- before anything is built: what this machine lacks, all of it, and how to install it ----

# Checked once, and again when the list changes. The report program needs no BPF.
needs := $(BUILD)/needs-$(if $(filter-out report $(BUILD)/nettape-report,$(or $(MAKECMDGOALS),all)),build,report)
$(BUILD)/needs-%: tests/setup.sh
	@mkdir -p $(@D)
	@CC='$(CC)' CFLAGS='$(CFLAGS)' CLANG='$(CLANG)' BPFTOOL='$(BPFTOOL)' bash tests/setup.sh --check $*
	@touch $@

# A directory in build/ that `sudo make` left behind.
foreign := $(if $(filter help,$(MAKECMDGOALS)),,$(shell find $(BUILD) -maxdepth 1 -type d ! -writable \
		! -name tmp ! -name vm ! -name fresh -print -quit 2>/dev/null))
ifneq ($(foreign),)
$(error no permission to write to $(foreign)/: it belongs to another user (sudo?). \
	Run: sudo chown -R $$(id -u) $(BUILD))
endif

# ---- objects: build/o plain, build/san with ASan and UBSan, build/ext for the extension of SQLite ----

$(BUILD)/o/%.o: %.c | $(needs)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPALL) $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/san/%.o: %.c | $(needs)
	@mkdir -p $(@D)
	$(call say,CC san,$<)
	$(Q)$(CC) $(CPPALL) $(SAN) -MMD -MP -c -o $@ $<

$(BUILD)/ext/%.o: %.c | $(needs)
	@mkdir -p $(@D)
	$(call say,CC ext,$<)
	$(Q)$(CC) $(CPPALL) $(CFLAGS) -DNT_EXTENSION -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<

$(BUILD)/nettape-report: $(call obj,o,$(report_src) $(shared_src))
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(REPORT_LIBS)

$(BUILD)/nettape-serve: $(call obj,o,$(serve_src) $(serve_with) $(shared_src))
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(SERVE_LIBS)

# It shows one symbol, the entry point, also of static libraries. SQLite is its loader's.
$(BUILD)/nettape_sqlite.so: $(call obj,ext,$(ext_src) $(shared_src))
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,defs -Wl,--exclude-libs,ALL -o $@ $^ \
		$(filter-out -lsqlite3,$(READER_LIBS))

$(BUILD)/nettape-record: $(call obj,o,$(record_src) $(shared_src))
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(RECORD_LIBS)

# ---- kernel side: one object per probe, linked into one, and a header that embeds it ----

# Of the machine that CC builds for. Integers are the same on each, so this machine's headers will do.
MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
BPF_ARCH := $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(MACHINE)))
BPF_CFLAGS := -target bpf -D__TARGET_ARCH_$(BPF_ARCH) -mcpu=v3 -O2 -g -std=gnu11 -I. \
	      $(addprefix -I,$(wildcard /usr/include/$(shell uname -m)-linux-gnu)) \
	      -Wall -Wextra -Wno-unused-parameter $(werror)

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c | $(needs)
	@mkdir -p $(@D)
	$(call say,BPF,$<)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/bench/%.bpf.o: tests/bench/%.bpf.c | $(needs)
	@mkdir -p $(@D)
	$(call say,BPF,$<)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/bench/%: $(BUILD)/o/tests/bench/%.o $(BUILD)/bench/%.bpf.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $< $(RECORD_LIBS)

$(BUILD)/bpf/nettape.o: $(patsubst %.c,$(BUILD)/%.o,$(bpf_src))
	$(call say,BPFLINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

$(BUILD)/bpf/nettape.skel.h: $(BUILD)/bpf/nettape.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name nettape > $@

$(call obj,o,$(record_src)): | $(BUILD)/bpf/nettape.skel.h
$(call obj,san,$(record_src) tests/unit/record/kernel_test.c): | $(BUILD)/bpf/nettape.skel.h

# ---- texts that are part of nettape-report; in them @NAME@ is a macro that is a text ----

text_headers := $(BUILD)/text/views_sql.h $(BUILD)/text/stages_txt.h $(BUILD)/text/flame_js.h \
	$(BUILD)/text/heat_js.h
$(BUILD)/text/views_sql.h: report/rows/views.sql
$(BUILD)/text/stages_txt.h: report/symbols/stages.txt
$(BUILD)/text/flame_js.h: report/export/svg/flame.js
$(BUILD)/text/heat_js.h: report/export/svg/heat.js
$(text_headers):
	@mkdir -p $(@D)
	$(call say,TEXT,$@)
	$(Q)sed -e 's/[\\"]/\\&/g' -e 's/@\([A-Z_]*\)@/" \1 "/g' -e 's/.*/"&\\n"/' $< > $@

# Manuals, as they are.
manual_headers := $(BUILD)/text/sql_schema_md.h $(BUILD)/text/cookbook_md.h
$(BUILD)/text/sql_schema_md.h: docs/sql-schema.md
$(BUILD)/text/cookbook_md.h: docs/cookbook.md
$(manual_headers):
	@mkdir -p $(@D)
	$(call say,TEXT,$@)
	$(Q)sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $< > $@
$(foreach sort,o san,$(call obj,$(sort),report/mcp/schema.c)): | $(manual_headers)

text_users := report/db/views.c report/symbols/stages.c report/export/svg/flame.c report/export/svg/heatmap.c
$(foreach sort,o san ext,$(call obj,$(sort),$(text_users))): | $(text_headers)

# ---- the page of `export html` and the live page, and their policies: by their checksums, a browser runs only this
# style and script ----

page_headers := $(addprefix $(BUILD)/text/page_,html.h css.h js.h policy.h)
live_headers := $(addprefix $(BUILD)/text/,page_css.h live_js.h live_policy.h)
page_parts = $(patsubst %,report/export/html/page/%.js,$(1))
page_scripts := $(call page_parts,text costs charts layers tables answers timeline stages latency page report)
live_scripts := $(call page_parts,text costs charts layers tables answers timeline page) report/serve/live.js

$(BUILD)/text/page.html $(BUILD)/text/page.css: $(BUILD)/text/page.%: report/export/html/page/page.%
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(BUILD)/text/page.js: $(page_scripts)
$(BUILD)/text/live.js: $(live_scripts)
$(BUILD)/text/page.js $(BUILD)/text/live.js:
	@mkdir -p $(@D)
	$(Q)cat $^ > $@

text_of_page := $(filter-out %_policy.h,$(page_headers)) $(BUILD)/text/live_js.h
$(foreach text,$(text_of_page),$(eval $(text): $(dir $(text))$(subst _,.,$(basename $(notdir $(text))))))
$(text_of_page):
	$(call say,PAGE,$@)
	$(Q)sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $< > $@

sum_of = $$(sha256sum $(1) | cut -c1-64 | tr a-f A-F | basenc --base16 -d | base64)

$(BUILD)/text/%_policy.h: $(BUILD)/text/page.css $(BUILD)/text/%.js
	$(call say,PAGE,$@)
	$(Q)echo "\"default-src 'none'; style-src 'sha256-$(call sum_of,$<)';" \
		"script-src 'sha256-$(call sum_of,$(word 2,$^))';" \
		"base-uri 'none'; form-action 'none'\"" > $@
	$(Q)test $$(grep -o "sha256-[A-Za-z0-9+/]*='" $@ | grep -c '.\{52\}') = 2

$(foreach sort,o san,$(call obj,$(sort),report/export/html/page.c)): | $(page_headers)
$(foreach sort,o san,$(call obj,$(sort),report/serve/page.c)): | $(live_headers)

# ---- tests ----

# Of the recorder, all but main: unit tests say what the kernel answers.
record_lib_src := $(filter-out record/main.c,$(record_src))
lib_src := $(shared_src) $(filter-out report/main.c,$(report_src)) \
	$(filter-out $(addprefix report/serve/,main.c http.c),$(serve_src)) $(support_src)
plain_lib := $(BUILD)/o/libnettape.a
san_lib := $(BUILD)/san/libnettape.a

# An archive, so that a test needs only what it calls. Appended to (q): files of two folders may have one name. Made
# anew with the list of its files.
$(plain_lib): $(call obj,o,$(lib_src) $(record_lib_src)) Makefile
	$(Q)rm -f $@ && $(AR) qcs $@ $(filter %.o,$^)

$(san_lib): $(call obj,san,$(lib_src) $(record_lib_src)) Makefile
	$(Q)rm -f $@ && $(AR) qcs $@ $(filter %.o,$^)

$(BUILD)/tests/%_test: $(BUILD)/san/tests/unit/%_test.o $(san_lib)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN) -o $@ $(filter %.o,$^) $(filter %.a,$^) -Wl,--as-needed -lcmocka $(REPORT_LIBS) $(RECORD_LIBS)

# Each fuzz target also as a plain program that runs its corpus and mutations of it, for every check.
$(BUILD)/tests/%_fuzz: $(BUILD)/san/tests/fuzz/%_fuzz.o $(BUILD)/san/tests/fuzz/driver.o $(san_lib)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN) -o $@ $^ $(REPORT_LIBS) -lm

$(BUILD)/fuzz/%_fuzz: tests/fuzz/%_fuzz.c $(lib_src) \
		| $(needs) $(BUILD)/needs-fuzz $(text_headers) $(manual_headers) $(page_headers) $(live_headers)
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)
	$(Q)$(CLANG) $(CPPALL) -O1 -g -fsanitize=fuzzer,address,undefined -o $@ $^ -lcmocka $(REPORT_LIBS) -lm

# Programs that tests run: plain builds.
$(BUILD)/tools/%: $(BUILD)/o/tests/tools/%.o $(plain_lib)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(REPORT_LIBS) -lm -lpthread

# Libraries that tests preload into a program: their functions come before libc's.
$(BUILD)/preload/%.so: tests/preload/%.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPALL) $(CFLAGS) -fPIC -shared -o $@ $<

# Its stacks are to be walked; and a sample that hits a table of calls would have no function.
$(BUILD)/o/tests/tools/caller.o: CFLAGS += -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-plt

# It reads types as the recorder does.
$(BUILD)/tools/kernel_types $(BUILD)/tools/detour $(BUILD)/tools/sieve: REPORT_LIBS += $(RECORD_LIBS)

# Files that may name functions are none if they cannot be read.
$(BUILD)/tools/report_faults: LDFLAGS += -Wl,--wrap=nt_build_id_open,--wrap=nt_program_read

# Tests start it thousands of times, and UBSan's data has a hundred thousand addresses: fixed ones need not be set.
$(BUILD)/san/nettape-report: $(call obj,san,$(report_src) $(shared_src))
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN) -no-pie -o $@ $^ $(REPORT_LIBS)

$(BUILD)/san/nettape-serve: $(call obj,san,$(serve_src) $(serve_with) $(shared_src))
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN) -no-pie -o $@ $^ $(SERVE_LIBS)

.PHONY: unit tools fuzzers san
# What tests of the command line start, if it can be made here.
san: $(BUILD)/san/nettape-report $(if $(serve),$(BUILD)/san/nettape-serve)
unit: $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(unit_src)) $(patsubst tests/fuzz/%.c,$(BUILD)/tests/%,$(fuzz_src))
tools: $(patsubst tests/tools/%.c,$(BUILD)/tools/%,$(tool_src)) \
	$(patsubst tests/preload/%.c,$(BUILD)/preload/%.so,$(wildcard tests/preload/*.c)) \
	$(addprefix $(BUILD)/bench/,histogram flows_naive hold delay.bpf.o stage.bpf.o charge_truth)
fuzzers: $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(fuzz_src))

# ---- for people ----

demo: ## record six seconds of traffic of its own, import it, check it, print its cost, make its page (as root)
	@bash tests/demo.sh

check: ## the tests that every machine can run, in about five minutes; ONLY=pattern for some of them
	@bash tests/check.sh '$(ONLY)'

check-all: ## all tests, also with browsers, Perfetto's engine and guests (half an hour); ONLY=
	@bash tests/check-all.sh '$(ONLY)'

check-vm: ## live tests on Debian's kernels, 6.1 to the newest, under QEMU, more than check-all's; ONLY=, VM_GUESTS=
	@bash tests/check-vm.sh '$(ONLY)'

check-fresh: ## the README, tests and package in new roots of Debian 12 and 13 (as root); FRESH=trixie, FRESH_STEPS=
	@bash tests/check-fresh.sh

check-list: ## the names of the tests, for ONLY=
	@bash tests/check.sh --list '$(ONLY)'; bash tests/check-vm.sh --list '$(ONLY)'

bench: ## the cost of recording a flood, or AGAINST=COMMIT; BENCH_PAIRS=3 for a quick look
	@$(if $(AGAINST),$(MAKE) -s all tools && bash tests/bench/against.sh '$(AGAINST)',bash tests/bench/run.sh)

bench-charge: ## whether net_rx is charged right, by clock reads (as root); ONLY=PATTERN, CHARGE_RUNS=1 for a look
	@bash tests/bench/charge_truth.sh '$(ONLY)'

bench-report: ## how fast tapes are read (as root, or TAPE=DIR); BENCH_EVENTS=100000000, BENCH_JSON=FILE, BENCH_QUICK=1
	@TAPE='$(TAPE)' bash tests/bench/report.sh

bench-servers: ## what redis and nginx lose while they are recorded (as root, on a quiet machine); ONLY=, BENCH_PAIRS=3
	@bash tests/setup.sh build load test perf && $(MAKE) -s all tools build/bench/floor && \
		bash tests/bench/servers.sh '$(or $(ONLY),.)'

bench-sql: ## each view and question on a tape, against its database (as root, or TAPE=DIR); BENCH_RUNS=1, BENCH_QUICK=1
	@TAPE='$(TAPE)' bash tests/bench/sql.sh

readme: ## remake the README's examples, picture and table of costs, on a quiet machine (as root, five minutes)
	@bash tests/readme.sh

FUZZ_SECONDS ?= 60
fuzz: fuzzers $(BUILD)/tests/timeline/timeline_random_test ## fuzz tape readers and timeline; FUZZ_SECONDS=60 each
	@for target in $(patsubst tests/fuzz/%.c,%,$(fuzz_src)); do \
		mkdir -p $(BUILD)/fuzz/corpus/$$target || exit 1; \
		$(BUILD)/fuzz/$$target -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 \
			-artifact_prefix=$(BUILD)/fuzz/ \
			$(BUILD)/fuzz/corpus/$$target $$(ls -d tests/fuzz/corpus/$$target 2>/dev/null) || exit 1; \
	done
	@end=$$(($$(date +%s) + $(FUZZ_SECONDS))); while [ $$(date +%s) -lt $$end ]; do \
		NT_SEED=random $(BUILD)/tests/timeline/timeline_random_test >$(BUILD)/fuzz/random.log 2>&1 || \
			{ grep -v '^ *[0-9]' $(BUILD)/fuzz/random.log; exit 1; }; \
	done

MUTATE ?=
mutate: ## change single lines and list changes that no test notices; MUTATE='-n 300 --only ^record/'
	@python3 tests/mutate.py $(MUTATE)

deps: ## install the packages that make and make demo need (as root); NO_INSTALL=1 only names them
	@bash tests/setup.sh build serve load
	@echo "nettape: all packages that make and make demo need are installed"

# ---- installing ----

# Each file as SOURCE:DESTINATION:MODE, the destination below PREFIX.
installed := \
	$(BUILD)/nettape-record:bin/nettape-record:755 \
	$(BUILD)/nettape-report:bin/nettape-report:755 \
	$(BUILD)/nettape_sqlite.so:lib/nettape_sqlite.so:644 \
	$(if $(serve),$(serve):bin/nettape-serve:755) \
	$(foreach page,$(sort $(wildcard docs/*.1 docs/*.5)), \
		$(page):share/man/man$(subst .,,$(suffix $(page)))/$(notdir $(page)):644) \
	$(foreach text,$(filter-out docs/CONTRIBUTING.md docs/architecture.md,$(sort $(wildcard docs/*.md))), \
		$(text):share/doc/nettape/$(notdir $(text)):644) \
	$(foreach file,$(sort $(wildcard docs/monitoring/*)), \
		$(file):share/doc/nettape/monitoring/$(notdir $(file)):644) \
	$(foreach program,nettape-record nettape-report nettape-serve, \
		docs/completions/nettape.bash:share/bash-completion/completions/$(program):644 \
		docs/completions/nettape.fish:share/fish/vendor_completions.d/$(program).fish:644) \
	docs/completions/_nettape:share/zsh/site-functions/_nettape:644

part = $(word $(2),$(subst :, ,$(1)))
destination = "$(DESTDIR)$(PREFIX)/$(call part,$(1),2)"
define newline


endef

install: all ## install programs, man pages, documents, completion, SQLite's extension, below PREFIX (/usr/local)
	$(foreach file,$(installed),install -D -m $(call part,$(file),3) $(call part,$(file),1) \
		$(call destination,$(file))$(newline)	)

uninstall: ## remove what install has put there
	$(foreach file,$(installed) none:bin/nettape-serve,rm -f $(call destination,$(file))$(newline)	)
	@rmdir "$(DESTDIR)$(PREFIX)/share/doc/nettape/monitoring" "$(DESTDIR)$(PREFIX)/share/doc/nettape" \
		2>/dev/null || true

deb: ## make a package for this release of Debian or Ubuntu: build/nettape_VERSION_ARCHITECTURE.deb
	@bash tests/setup.sh build serve deb && $(MAKE) -s all && \
		BUILD='$(BUILD)' VERSION='$(VERSION)' MAKE='$(MAKE)' bash tests/deb.sh

format: ## clang-format over all C sources
	clang-format -i $(shell find schema bpf record report tests -name '*.[ch]')

clean: ## remove build/
	rm -rf $(BUILD)

help: ## this list
	@echo "make [TARGET] [V=1 to see the commands] [CC=... CLANG=... BPFTOOL=... BUILD=directory]"
	@echo
	@echo "  (none)       both programs, in $(BUILD)/"
	@awk -F': .*## ' '/^[a-z-]+:.* ## / { split($$1, t, ":"); printf "  %-12s %s\n", t[1], $$2 }' \
		$(firstword $(MAKEFILE_LIST))

-include $(shell find $(addprefix $(BUILD)/,o san ext bpf bench) -name '*.d' 2>/dev/null)
.SECONDARY:
