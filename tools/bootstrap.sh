#!/usr/bin/env bash
# Brings what Ergometer is built from: Debian packages by name, and oneDNN's wheels from PyPI unpacked into .deps/.
# Idempotent: does nothing, and needs no network, once everything is there. Without root or sudo it prints what to install.
set -euo pipefail
cd "$(dirname "$0")/.."

# What each is for: compiler and build; JSON, TOML, command line, text; store; JPEG, tokenizer, gzip; tests; pip and the quick run's text.
packages=(
  g++ cmake ninja-build ccache pkg-config
  nlohmann-json3-dev libtomlplusplus-dev libcli11-dev libfmt-dev
  libsqlite3-dev
  libjpeg62-turbo-dev libsentencepiece-dev zlib1g-dev
  libgtest-dev libgmock-dev
  python3 python3-pip ca-certificates
  debian-reference-en debian-reference-de
)
# Only `make bench` and `make fuzz` need these: Google Benchmark; clang, its sanitizers and fuzzer, its OpenMP.
dev_packages=(libbenchmark-dev clang libclang-rt-14-dev libomp-14-dev)
[ "${ERG_DEV_PACKAGES:-0}" = 1 ] && packages+=("${dev_packages[@]}")
# name, version, SHA-256 of the x86-64 wheel
wheels=(
  "onednn-cpu-gomp 2023.2.0 2f22a54d6a890ed14bfa185d42a4be65d8b5b1df85dc1f0f3a9abe31620416fb"
  "onednn-devel-cpu-gomp 2023.2.0 9763c69e8c907e119056bd52ad918ca84ac9ba939d130a99dfa95ccca3e5e284"
)

say() { printf 'bootstrap: %s\n' "$*" >&2; }

missing_packages() {
  for p in "${packages[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || echo "$p"
  done
}

install_packages() {
  command -v dpkg-query >/dev/null || {
    say "this is not a Debian system; install the equivalents of: ${packages[*]}"
    say "then set ERG_SKIP_PACKAGES=1. Only Debian 12 has been tried."
    exit 1
  }
  local missing; mapfile -t missing < <(missing_packages)
  [ ${#missing[@]} -eq 0 ] && return
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then as_root=(sudo); else
      say "these packages are missing and neither root nor password-less sudo is at hand. Ask for:"
      say "  apt-get install --no-install-recommends ${missing[*]}"
      exit 1
    fi
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# A system oneDNN >= 3.2 will do; Debian 12's own is 2.6 and will not.
system_onednn() {
  local header
  for header in /usr/include /usr/local/include; do
    header=$header/oneapi/dnnl/dnnl_version.h
    [ -f "$header" ] || continue
    awk '/DNNL_VERSION_MAJOR/ {a=$3} /DNNL_VERSION_MINOR/ {b=$3} END {exit !(a > 3 || (a == 3 && b >= 2))}' "$header" && return 0
  done
  return 1
}

install_onednn() {
  [ -f .deps/onednn/.complete ] && return
  system_onednn && return
  if [ "$(uname -m)" != x86_64 ]; then
    say "oneDNN's wheels are for x86-64 only; on $(uname -m) install oneDNN >= 3.2 (OpenMP build) in /usr/local. Not tried."
    exit 1
  fi
  local work=.deps/wheels name version sha file
  rm -rf .deps/onednn "$work"; mkdir -p .deps/onednn "$work"
  for wheel in "${wheels[@]}"; do
    read -r name version sha <<<"$wheel"
    say "fetching $name $version"
    python3 -m pip download -q --no-deps --only-binary=:all: --disable-pip-version-check -d "$work" "$name==$version"
    file=$(ls "$work/${name//-/_}"-*.whl)
    echo "$sha  $file" | sha256sum -c --quiet - || { say "$file is not the wheel that was expected"; exit 1; }
    python3 -m zipfile -e "$file" "$work/unpacked"
    cp -r "$work"/unpacked/*.data/data/* .deps/onednn/
  done
  rm -rf "$work"
  touch .deps/onednn/.complete
}

[ "${ERG_SKIP_PACKAGES:-0}" = 1 ] || install_packages
install_onednn
