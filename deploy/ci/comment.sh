#!/bin/sh
# Writes the comment of a boot to a pull request on GitHub, or replaces the previous one:
#
#   comment.sh OWNER/REPOSITORY NUMBER NAME FILE
#
# It needs gh, with a token in GH_TOKEN.
set -eu
repository=$1 number=$2 name=$3 file=$4
# Comments of others with the same mark are left alone. The token of a workflow has no user: its comments are a bot's.
me=$(gh api user --jq .login 2>/dev/null || true)
previous=$(MARK="<!-- headgate $name -->" ME="$me" gh api --paginate "repos/$repository/issues/$number/comments" \
  --jq '.[] | select((if env.ME == "" then .user.type == "Bot" else .user.login == env.ME end) and (.body | startswith(env.MARK))) | .id')
previous=$(echo "$previous" | tail -n 1)
if [ -n "$previous" ]; then
  gh api --silent -X PATCH "repos/$repository/issues/comments/$previous" -F "body=@$file"
else
  gh api --silent -X POST "repos/$repository/issues/$number/comments" -F "body=@$file"
fi
