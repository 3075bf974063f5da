#!/bin/sh
# Writes the comment of a boot to a pull request on GitHub, or replaces the previous one:
#
#   comment.sh OWNER/REPOSITORY NUMBER NAME FILE
#
# It needs gh, with a token in GH_TOKEN.
set -eu
repository=$1 number=$2 name=$3 file=$4
previous=$(MARK="<!-- headgate $name -->" gh api --paginate "repos/$repository/issues/$number/comments" \
  --jq '.[] | select(.user.type == "Bot" and (.body | startswith(env.MARK))) | .id')
# Comments of people with the same mark are left alone.
previous=$(echo "$previous" | tail -n 1)
if [ -n "$previous" ]; then
  gh api --silent -X PATCH "repos/$repository/issues/comments/$previous" -F "body=@$file"
else
  gh api --silent -X POST "repos/$repository/issues/$number/comments" -F "body=@$file"
fi
