#!/bin/sh
# Boots a repository with stand-ins for what is missing, and writes what a pull request is told:
#
#   boot.sh DIRECTORY NAME PATH [FLAG...]
#
# DIRECTORY gets boot.json and boot.md, the report; boot.log, the output; comment.md, both for people. NAME tells several
# boots of one repository apart. FLAGs are those of "headgate up". The exit code is that of headgate: 0 if everything
# becomes ready.
set -eu

[ "$#" -ge 3 ] || {
  echo "usage: boot.sh DIRECTORY NAME PATH [FLAG...]" >&2
  exit 2
}
dir=$1 name=$2 path=$3
shift 3
case $name in
*[!A-Za-z0-9._-]* | '')
  echo "boot.sh: the name $name has other characters than letters, digits, dots, hyphens and underscores" >&2
  exit 2
  ;;
esac
mkdir -p "$dir"
rm -f "$dir/boot.json" "$dir/boot.md"

# The output may have lines that are commands to the runner of GitHub, such as ::add-path::. It obeys none before it sees the word.
word=
if [ "${GITHUB_ACTIONS:-}" = true ]; then
  word=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  echo "::stop-commands::$word"
fi
{
  code=0
  headgate up "$path" --ephemeral --simulate --exit-when-ready --report "$dir/boot.json" "$@" 2>&1 || code=$?
  echo "$code" >"$dir/code"
} | tee "$dir/boot.log"
# The last line may have no end.
[ -z "$word" ] || printf '\n::%s::\n' "$word"
code=$(cat "$dir/code")
rm "$dir/code"

# The output is that of the pull request's files: indented, it is text whatever it contains. A carriage return would begin a line of its own.
quoted() { tail -n "$1" "$dir/boot.log" | tr '\000-\010\013-\037' ' ' | cut -c1-300 | sed 's/^/    /'; }

{
  echo "<!-- headgate $name -->"
  if [ "$code" -eq 0 ]; then
    echo "### ✓ $name: everything becomes ready"
  elif [ "$code" -eq 2 ]; then
    echo "### ✗ $name: it was not booted"
    echo
    quoted 15
  else
    echo "### ✗ $name: not everything becomes ready"
    echo
    quoted 15
  fi
  echo
  echo "Booted with simulated pods: this proves the order, the schemas and what is applied, not that images run."
  if [ -f "$dir/boot.md" ]; then
    printf '\n<details><summary>Units and stand-ins</summary>\n\n'
    # Forges limit comments to 65,536 characters; the report has all of it.
    awk '{ size += length($0) + 1; if (size > 40000) { print "\nThe rest is in boot.md."; exit } print }' "$dir/boot.md"
    printf '\n</details>\n'
  fi
} >"$dir/comment.md"
exit "$code"
