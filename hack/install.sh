#!/bin/sh
# Installs a released headgate, after its checksum was compared:
#
#   curl -fsSL https://github.com/headgate-dev/headgate/releases/latest/download/install.sh | sh
#
#   HEADGATE_VERSION   the release, such as v1.2.3 (default: the latest)
#   HEADGATE_BIN_DIR   where the binary goes (default: /usr/local/bin if it is writable, or else ~/.local/bin)
#   HEADGATE_URL       the address of the releases, for a mirror
#
# If cosign is on the PATH, the signature of the checksums is verified as well.
set -eu

releases=${HEADGATE_URL:-https://github.com/headgate-dev/headgate/releases}
releases=${releases%/}
work=

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# fetch URL FILE
fetch() {
  if has curl; then
    curl -fsSL --proto-redir '=https' -o "$2" "$1" || fail "cannot fetch $1"
  elif has wget; then
    wget -q -O "$2" "$1" || fail "cannot fetch $1"
  else
    fail "curl or wget is needed"
  fi
}

digest() {
  if has sha256sum; then
    sha256sum "$1" | cut -d' ' -f1
  elif has shasum; then
    shasum -a 256 "$1" | cut -d' ' -f1
  else
    fail "sha256sum or shasum is needed to verify the download"
  fi
}

platform() {
  system=$(uname -s)
  machine=$(uname -m)
  case $system in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) fail "there is no release for $system; build it: https://github.com/headgate-dev/headgate#try-it" ;;
  esac
  case $machine in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "there is no release for $system on $machine; build it: https://github.com/headgate-dev/headgate#try-it" ;;
  esac
  echo "${os}_$arch"
}

# verify DIRECTORY ADDRESS: the signature of the checksums, if there is a program that can tell.
verify() {
  if ! has cosign; then
    echo "only the checksum is compared, the signature is not verified: cosign is not on the PATH" >&2
    return
  fi
  fetch "$2/checksums.txt.sigstore.json" "$1/checksums.txt.sigstore.json"
  cosign verify-blob --bundle "$1/checksums.txt.sigstore.json" \
    --certificate-identity-regexp '^https://github\.com/headgate-dev/headgate/\.github/workflows/release\.yaml@refs/tags/v' \
    --certificate-oidc-issuer https://token.actions.githubusercontent.com "$1/checksums.txt" >/dev/null ||
    fail "the signature of $2/checksums.txt is not that of a release of Headgate; nothing was installed"
}

directory() {
  if [ -n "${HEADGATE_BIN_DIR:-}" ]; then
    echo "$HEADGATE_BIN_DIR"
  elif [ -d /usr/local/bin ] && [ -w /usr/local/bin ]; then
    echo /usr/local/bin
  else
    echo "${HOME:?it is not set; set HEADGATE_BIN_DIR}/.local/bin"
  fi
}

# Nothing runs before the last line was read: a download that breaks off does nothing.
main() {
  target=$(platform)
  case ${HEADGATE_VERSION:-latest} in
  latest) address=$releases/latest/download ;;
  *) address=$releases/download/v${HEADGATE_VERSION#v} ;;
  esac
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM

  fetch "$address/checksums.txt" "$work/checksums.txt"
  # A line is "DIGEST  FILE"; the name of the file has the version.
  archive=$(sed -n "s/^[0-9a-f]\{64\}  \(headgate_[0-9][0-9A-Za-z.+-]*_$target\.tar\.gz\)\$/\1/p" "$work/checksums.txt")
  [ -n "$archive" ] || fail "$address/checksums.txt names no archive for $target"
  [ "$(echo "$archive" | wc -l)" -eq 1 ] || fail "$address/checksums.txt names several archives for $target"
  version=${archive#headgate_}
  version=v${version%"_$target.tar.gz"}
  # "latest" may be another release by now.
  address=$releases/download/$version
  verify "$work" "$address"

  fetch "$address/$archive" "$work/$archive"
  want=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$work/checksums.txt")
  got=$(digest "$work/$archive")
  [ "$got" = "$want" ] || fail "$archive has the checksum $got, and checksums.txt says $want; nothing was installed"

  tar -xzf "$work/$archive" -C "$work" headgate || fail "$archive has no file headgate"
  bin=$(directory)
  mkdir -p "$bin" || fail "cannot create $bin; set HEADGATE_BIN_DIR"
  # A headgate that runs keeps its file until it ends.
  cp "$work/headgate" "$bin/.headgate.$$" || fail "cannot write to $bin; set HEADGATE_BIN_DIR"
  chmod 755 "$bin/.headgate.$$"
  mv "$bin/.headgate.$$" "$bin/headgate"
  echo "headgate $version is $bin/headgate"
  case :$PATH: in
  *:"$bin":*) ;;
  *) echo "add it to your PATH: export PATH=\"$bin:\$PATH\"" ;;
  esac
}

main
