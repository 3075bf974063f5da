#!/bin/sh
# Installs a released headgate, after its checksum was compared:
#
#   curl -fsSL https://github.com/headgate-dev/headgate/releases/latest/download/install.sh | sh
#
#   HEADGATE_VERSION   the release, such as v1.2.3 (default: the latest)
#   HEADGATE_BIN_DIR   where the binary goes (default: /usr/local/bin if it is writable, or else ~/.local/bin)
#   HEADGATE_URL       the address of the releases, for a mirror
#
# If cosign is on the PATH, it is verified as well that the checksums were signed by the release of exactly that version. Without it, the script says what
# was not verified.
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

# verify DIRECTORY ADDRESS VERSION: that the release of this very version has signed the checksums, if there is a program that can tell.
verify() {
  if ! has cosign; then
    echo "not verified, since cosign is not on the PATH: that checksums.txt was signed by the release $3 of headgate-dev/headgate. The archive is only compared with \
$2/checksums.txt, which comes from the same server" >&2
    return
  fi
  fetch "$2/checksums.txt.sigstore.json" "$1/checksums.txt.sigstore.json"
  cosign verify-blob --bundle "$1/checksums.txt.sigstore.json" \
    --certificate-identity "https://github.com/headgate-dev/headgate/.github/workflows/release.yaml@refs/tags/$3" \
    --certificate-oidc-issuer https://token.actions.githubusercontent.com "$1/checksums.txt" >/dev/null ||
    fail "the signature of $2/checksums.txt is not that of the release $3 of Headgate; nothing was installed"
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
  latest) requested= address=$releases/latest/download ;;
  v[0-9]* | [0-9]*) requested=v${HEADGATE_VERSION#v} address=$releases/download/v${HEADGATE_VERSION#v} ;;
  *) fail "HEADGATE_VERSION is $HEADGATE_VERSION, want a release such as v1.2.3, or latest" ;;
  esac
  case $requested in
  *[!0-9A-Za-z.+-]*) fail "HEADGATE_VERSION is $HEADGATE_VERSION, want a release such as v1.2.3, or latest" ;;
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
  # A server may have an older release instead of the one that was named, with a signature that is good for that one.
  [ -z "$requested" ] || [ "$version" = "$requested" ] ||
    fail "$address/checksums.txt is of the release $version, and HEADGATE_VERSION is $requested; nothing was installed"
  [ -n "$requested" ] || [ -z "${HEADGATE_URL:-}" ] ||
    echo "$releases says that $version is the latest release; HEADGATE_VERSION names one that you know" >&2
  # "latest" may be another release by now.
  address=$releases/download/$version
  verify "$work" "$address" "$version"

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
