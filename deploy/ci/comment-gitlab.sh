#!/bin/sh
# Writes the comment of a boot to a merge request on GitLab, or replaces the previous one:
#
#   comment-gitlab.sh NAME FILE
#
# It needs curl and jq, the variables of a pipeline of a merge request, and HEADGATE_TOKEN.
set -eu
name=$1 file=$2
notes=$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes

# The token is not among the arguments, which every process can read.
request() { printf 'header = "PRIVATE-TOKEN: %s"\n' "$HEADGATE_TOKEN" | curl -fsS -K - "$@"; }

me=$(request "$CI_API_V4_URL/user" | jq -r .id)
# The newest first, page by page, until one has it.
previous="" page=1
while [ -z "$previous" ]; do
  some=$(request "$notes?per_page=100&order_by=created_at&sort=desc&page=$page")
  previous=$(printf %s "$some" |
    jq -r --arg mark "<!-- headgate $name -->" --arg me "$me" '[.[] | select((.author.id | tostring) == $me and (.body | startswith($mark))) | .id][0] // empty')
  [ "$(printf %s "$some" | jq length)" -eq 100 ] || break
  page=$((page + 1))
done
if [ -n "$previous" ]; then
  request -o /dev/null -X PUT "$notes/$previous" --data-urlencode "body@$file"
else
  request -o /dev/null -X POST "$notes" --data-urlencode "body@$file"
fi
