package egress

import "fmt"

// Run says who chooses the addresses of requests in a process, and whose network they are sent from.
type Run struct {
	// Remote is set where what is served comes from a repository by its URL: others choose the addresses, and the network is that of the
	// person who tries it.
	Remote bool
	// Shared is set for a cluster of several people, each of whom chooses addresses, and none of whom the network belongs to.
	Shared bool
	// Allow are addresses, as Parse reads them, that the person who starts the process permits besides.
	Allow string
}

// Flag is the flag of Run.Allow.
const Flag = "allow-egress"

// Policy is where the requests of a process may go.
type Policy struct {
	// Fetches are those of sources, charts, bases, notifications and other clusters: what is sent is fixed, and nothing that is not such a content is
	// shown. Requests are those whose methods, headers and bodies are chosen as well, or whose answers are shown: stores, promotions, HTTP
	// templates and artifacts.
	Fetches, Requests Rules
	// Served are servers that both may reach.
	Served *Served
}

// Policy is the only place where it is decided which addresses a process reaches.
func (r Run) Policy() (Policy, error) {
	allowed, err := Parse(r.Allow)
	if err != nil {
		return Policy{}, fmt.Errorf("--%s: %w", Flag, err)
	}
	p := Policy{Served: &Served{}}
	switch {
	case r.Remote:
		p.Fetches, p.Requests = Rules{lists: []string{External}}, Rules{lists: []string{External}}
	case r.Shared:
		p.Fetches, p.Requests = Anywhere(), Rules{lists: []string{External, Private}}
	default:
		// The person who starts the process is the author of what it serves.
		p.Fetches, p.Requests = Anywhere(), Anywhere()
	}
	for _, rules := range []*Rules{&p.Fetches, &p.Requests} {
		rules.lists = append(rules.lists, allowed.lists...)
		rules.hosts = append(rules.hosts, allowed.hosts...)
		rules.nets = append(rules.nets, allowed.nets...)
		rules.served, rules.hint = p.Served, "; --"+Flag+" permits more addresses"
	}
	return p, nil
}

// OrAnywhere are the rules, or Anywhere where nothing was said: by a room that a person calls by a command.
func (r Rules) OrAnywhere() Rules {
	if r.IsZero() {
		return Anywhere()
	}
	return r
}

// Anywhere are rules for what the person chooses who starts the process: they permit everything but addresses that configure machines.
func Anywhere() Rules { return Rules{nets: prefixes("0.0.0.0/0", "::/0")} }
