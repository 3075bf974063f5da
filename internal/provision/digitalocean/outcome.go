package digitalocean

import (
	"fmt"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/provision/digitalocean/kinds"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// difference says which fields differ, without values that may be secret.
func difference(o kinds.Outcome) string {
	var all []string
	for _, c := range append(append([]kinds.Change{}, o.Changes...), o.Replace...) {
		text := c.Field
		if c.Want != "" || c.Have != "" {
			text = fmt.Sprintf("%s is %q, not %q", c.Field, c.Have, c.Want)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// readiness is the condition Ready of what exists.
func readiness(o kinds.Outcome) managed.Readiness {
	switch o.Condition {
	case kinds.Available:
		return managed.Available()
	case kinds.Creating, kinds.Missing:
		return managed.Creating(o.Message)
	}
	return managed.Unavailable(o.Message)
}

// findingOf reads a recovery. Before the first creation nothing is waited for.
func findingOf(r kinds.Recovery, i managed.Intent) managed.Finding {
	f := managed.Finding{Name: r.Adopt, Others: r.Others, Until: r.Until}
	if i.Attempt == 0 {
		f.Until = time.Time{}
	}
	return f
}
