# Thin names over tools/bootstrap.sh, the CMake presets and the binary. `make run` and `make test` are all a new machine needs.
PRESET ?= release
BUILD   = build/$(PRESET)
ERG     = $(BUILD)/bin/ergometer
TEXT    = ergometer-data/text
IMAGES  = ergometer-data/images
REFERENCE = /usr/share/debian-reference/debian-reference

FUZZ_SECONDS ?= 60

.PHONY: help run test test-quick test-asan test-tsan fuzz bench guard peers build program configure data setup format tidy clean

help:
	@echo "make run        set up, build, train GPT and ResNet-50 on this machine, print the table"
	@echo "make test       set up, build, run every test"
	@echo "make test-quick the tests that take under two minutes"
	@echo "make test-asan  every test under the address and undefined-behaviour sanitizers"
	@echo "make test-tsan  tests of threaded code without OpenMP under the thread sanitizer"
	@echo "make fuzz       every fuzzer for FUZZ_SECONDS ($(FUZZ_SECONDS))"
	@echo "make bench      what reading data costs, and every op of ResNet-50 and GPT"
	@echo "make guard      fails when an op became slow: ratios, no absolute times"
	@echo "make peers      PyTorch, TensorFlow and llm.c beside Ergometer, in alternation: hours, and GB to download"
	@echo "make build | data | format | tidy | clean"

setup:
	@tools/bootstrap.sh

configure: setup
	@test -f $(BUILD)/build.ninja || cmake --preset $(PRESET)

build: configure
	@cmake --build --preset $(PRESET)

program: configure
	@cmake --build --preset $(PRESET) --target ergometer engine_cpu

data: $(TEXT)/data.json $(IMAGES)/data.json

run: program
	@$(MAKE) --no-print-directory data
	$(ERG) sweep specs/quick.toml

# The quick run's text is Debian's reference manual in two languages; its images are made by formula.
$(TEXT)/data.json:
	$(ERG) data tokens $(REFERENCE).en.txt.gz $(REFERENCE).de.txt.gz --vocabulary 8000 --out $(TEXT)

$(IMAGES)/data.json:
	$(ERG) data images --classes 10 --per-class 64 --out $(IMAGES)

# Waiting OpenMP threads must not spin: tests run side by side on few cores.
test test-quick test-asan test-tsan: export OMP_WAIT_POLICY = passive

test: build
	ctest --preset $(PRESET)

test-quick: build
	ctest --preset $(PRESET) -L quick

test-asan:
	@$(MAKE) --no-print-directory test PRESET=asan

test-tsan:
	@$(MAKE) --no-print-directory build PRESET=tsan
	ctest --preset tsan

fuzz bench: export ERG_DEV_PACKAGES = 1

# What a fuzzer finds stays in build/fuzz as NAME-crash-…; what it learned, in build/fuzz/grown.
fuzz: setup
	@test -f build/fuzz/build.ninja || cmake --preset fuzz
	@cmake --build --preset fuzz
	python3 fuzz/make_corpus.py build/fuzz/corpus
	set -e; for f in fuzz/*_fuzz.cpp; do name=$$(basename $$f .cpp); mkdir -p build/fuzz/grown/$$name; \
	  build/fuzz/bin/$$name -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=3000 -artifact_prefix=build/fuzz/$$name- \
	  build/fuzz/grown/$$name build/fuzz/corpus/$$name; done

bench: setup
	@cmake --preset $(PRESET) -DERG_BUILD_BENCH=ON
	@cmake --build $(BUILD) --target bench
	$(BUILD)/bin/data_bench
	$(BUILD)/bin/ops_bench --benchmark_filter='^(resnet50|gpt)' --benchmark_min_time=0.2

guard: configure
	@cmake --build --preset $(PRESET) --target guard
	$(BUILD)/bin/guard

# PEERS: further options, such as --rounds 1 --only resnet50-32-bf16; bench/peers.py --help has them all.
peers: program
	@cmake --build --preset $(PRESET) --target bounds
	python3 bench/peers.py --build $(BUILD) $(PEERS)

format:
	git ls-files '*.cpp' '*.hpp' | xargs clang-format -i

tidy: build
	git ls-files 'src/*.cpp' | xargs -P 2 -n 1 clang-tidy -quiet -p $(BUILD)

clean:
	rm -rf build
