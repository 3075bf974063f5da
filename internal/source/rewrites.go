package source

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Rewrites send fetches elsewhere: to a mirror, or to a copy nearby. The zero value sends none.
type Rewrites struct{ rules []rewrite }

type rewrite struct{ from, to string }

// ParseRewrites reads rules of the form FROM=TO. Both are beginnings of URLs with a scheme and a host,
// such as "oci://ghcr.io/team/=oci://mirror.local/team/"; the first "=" ends FROM. A rule that is no such
// pair, and two rules for the same FROM, are errors that name it.
func ParseRewrites(texts []string) (Rewrites, error) {
	return Rewrites{}.With(texts)
}

// With adds rules to those that there are, which go before them where both are about the same FROM. It
// fails as ParseRewrites does, and changes nothing then.
func (r Rewrites) With(texts []string) (Rewrites, error) {
	given := r.rules
	r.rules = slices.Clone(given)
	for _, text := range texts {
		from, to, ok := strings.Cut(text, "=")
		if !ok {
			return Rewrites{}, fmt.Errorf("rewrite %s: missing %q; write FROM=TO", quoteURL(text), "=")
		}
		for _, side := range []string{from, to} {
			if err := checkPrefix(side); err != nil {
				return Rewrites{}, fmt.Errorf("rewrite %s: %w", quoteURL(text), err)
			}
		}
		same := func(known rewrite) bool { return known.from == from }
		if slices.ContainsFunc(given, same) {
			continue
		}
		if slices.ContainsFunc(r.rules, same) {
			return Rewrites{}, fmt.Errorf("rewrite %s: there are two rules for %q", quoteURL(text), from)
		}
		r.rules = append(r.rules, rewrite{from, to})
	}
	slices.SortFunc(r.rules, func(a, b rewrite) int { return len(b.from) - len(a.from) })
	return r, nil
}

// checkPrefix demands the beginning of a URL that holds no credentials: it is shown.
func checkPrefix(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme == "" || u.Opaque != "":
		return fmt.Errorf("%w: %s is not the start of a URL", ErrURL, quoteURL(text))
	case u.Hostname() == "":
		return fmt.Errorf("%w: %s names no host", ErrURL, quoteURL(text))
	case u.User != nil && u.Scheme != "ssh":
		return fmt.Errorf("%w: it contains credentials; put them into the source's Secret", ErrURL)
	case u.User != nil:
		if _, has := u.User.Password(); has {
			return fmt.Errorf("%w: it contains a password; put it into the source's Secret", ErrURL)
		}
	}
	return nil
}

// quoteURL shows what is meant to hold URLs, without what stands before an "@".
func quoteURL(text string) string {
	if at := strings.LastIndex(text, "@"); at >= 0 {
		text = "…" + text[at:]
	}
	return fmt.Sprintf("%q", text)
}

// Apply returns the URL to fetch from instead of the given one: the longest FROM that it begins with is
// replaced. A FROM ends where a part of the URL ends, so that "https://git/team" is not the beginning of
// "https://git/teammates". A URL that no rule is about stays as it is.
func (r Rewrites) Apply(address string) string {
	for _, rule := range r.rules {
		rest, ok := strings.CutPrefix(address, rule.from)
		if ok && (rest == "" || strings.HasSuffix(rule.from, "/") || strings.ContainsAny(rest[:1], "/?#") || rest == ".git") {
			return rule.to + rest
		}
	}
	return address
}

// Targets are the URLs that rules lead to.
func (r Rewrites) Targets() []string {
	all := make([]string, len(r.rules))
	for i, rule := range r.rules {
		all[i] = rule.to
	}
	return all
}
