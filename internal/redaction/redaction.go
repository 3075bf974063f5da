// Package redaction takes credentials out of the URLs in texts that people and machines see: conditions, events, notifications,
// logs, traces, labels of metrics, errors of commands.
//
// It knows URLs by their shape. Values that a room knows to be secret are taken out by comparison, in the forms in which programs write them.
package redaction

import (
	"net/url"
	"slices"
	"strings"
)

// cut is put instead of the value of a parameter.
const cut = "…"

// shown are the parameters of URLs whose values are shown. Forges, registries and stores have many names for tokens and
// signatures, so that all others are taken for one.
var shown = []string{"ref", "version", "timeout", "depth", "submodules", "service", "scope", "path", "tag", "channel", "list-type", "prefix"}

// Text is a text without the credentials of the URLs in it.
func Text(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	var out strings.Builder
	for {
		scheme, rest, found := strings.Cut(text, "://")
		out.WriteString(scheme)
		if !found {
			return out.String()
		}
		end := length(rest)
		out.WriteString("://" + stripped(rest[:end], strings.HasSuffix(scheme, "ssh")))
		text = rest[end:]
	}
}

// Err is the text of an error, without credentials; empty for none.
func Err(err error) string {
	if err == nil {
		return ""
	}
	return Text(err.Error())
}

// punctuation may be part of a URL, and is also what stands between or after URLs in a text.
const punctuation = "',;:.|()[]{}"

// length is how long the URL is whose scheme is before a text. A comma may be part of a password: it ends a URL at the end of a word,
// or where another URL follows.
func length(rest string) int {
	end := strings.IndexFunc(rest, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"`<>\\", r) })
	if end < 0 {
		end = len(rest)
	}
	if next := strings.Index(rest[:end], "://"); next >= 0 {
		if between := strings.LastIndexAny(rest[:next], punctuation+"="); between >= 0 {
			end = between
		}
	}
	return len(strings.TrimRight(rest[:end], punctuation))
}

// stripped is what follows the scheme of a URL, without credentials. What is before the host of an address of SSH is the name
// of a user, and stays.
func stripped(rest string, ssh bool) string {
	login, after := splitLogin(rest)
	user, _, _ := strings.Cut(login, ":")
	if ssh && login != "" {
		after = user + "@" + after
	}
	address, query, found := strings.Cut(after, "?")
	if !found {
		return after
	}
	query, fragment, hasFragment := strings.Cut(query, "#")
	parameters := strings.Split(query, "&")
	for i, p := range parameters {
		if name, _, valued := strings.Cut(p, "="); valued && !slices.Contains(shown, strings.ToLower(name)) {
			parameters[i] = name + "=" + cut
		} else if !valued && p != "" {
			parameters[i] = cut
		}
	}
	after = address + "?" + strings.Join(parameters, "&")
	if hasFragment {
		after += "#" + fragment
	}
	return after
}

// splitLogin splits what is before the host off. A password with a slash in it, which no parser takes, is one too: it
// begins after a colon that no port follows.
func splitLogin(rest string) (login, after string) {
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority = rest[:i]
	}
	at := strings.LastIndex(authority, "@")
	if at < 0 {
		_, port, colon := strings.Cut(authority, ":")
		if _, err := url.Parse("http://" + authority); colon && port != "" && err != nil {
			at = strings.LastIndex(rest, "@")
		}
	}
	if at < 0 {
		return "", rest
	}
	return rest[:at], rest[at+1:]
}
