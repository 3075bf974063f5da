package engine

import "regexp"

// rewordings are ways in which conditions say something, as programs expect it, and the words that people have for it. They apply one after
// the other.
var rewordings = []struct {
	said  *regexp.Regexp
	plain string
}{
	{regexp.MustCompile(`timeout waiting for: \[(.*)\]`), "$1"},
	{regexp.MustCompile(` status: '\w+': `), ": "},
	{regexp.MustCompile(` status: 'InProgress'`), " is not ready yet"},
	{regexp.MustCompile(` status: 'NotFound'`), " does not exist"},
	{regexp.MustCompile(` status: 'Terminating'`), " is being deleted"},
	{regexp.MustCompile(` status: 'Failed'`), " failed"},
	{regexp.MustCompile(` status: 'Current'`), " is ready"},
	{regexp.MustCompile(` status: 'Unknown'`), " is in an unknown state"},
	{regexp.MustCompile(`\b[A-Z]\w* generation is \d+, but latest observed generation is \d+`), "its controller has not seen its latest change yet"},
	{regexp.MustCompile(`\b[A-Z]\w* status\.observedGeneration not found`), "its controller has not seen it yet"},
	{regexp.MustCompile(`\bReplicas: (\d+)/(\d+)`), "$1 of $2 replicas"},
	{regexp.MustCompile(`\bUpdated: (\d+)/(\d+)`), "$1 of $2 replicas are updated"},
	{regexp.MustCompile(`\bAvailable: (\d+)/(\d+)`), "$1 of $2 replicas are available"},
	{regexp.MustCompile(`\bReady: (\d+)/(\d+)`), "$1 of $2 replicas are ready"},
}

// Plain is a message of a condition in plain words. Conditions keep the form in which the upstream writes them, since alerts and scripts
// search for it.
func Plain(message string) string {
	for _, r := range rewordings {
		message = r.said.ReplaceAllString(message, r.plain)
	}
	return message
}
