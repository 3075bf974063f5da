package cloud

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"time"
)

// Entry is a request as the audit log has it, without anything secret.
type Entry struct {
	Time   time.Time `json:"time"`
	ID     string    `json:"request_id"`
	Method string    `json:"method"`
	Path   string    `json:"path"`
	Query  string    `json:"query,omitempty"`
	// Status is that of the answer; 0 when the connection was closed without one.
	Status int `json:"status"`
	// Done says that the request changed something, whatever was answered; Made names what it created.
	Done bool     `json:"done,omitempty"`
	Made []string `json:"made,omitempty"`
	// Body is the body of the request without secrets.
	Body   map[string]any `json:"body,omitempty"`
	Faults []Kind         `json:"faults,omitempty"`
}

// Log is the audit log, oldest first. Reads are in it only until the process ends, and the older ones of a long log are not.
type Log []Entry

// remembered is how many entries a log has at most before old reads are dropped: what polls for days is not kept.
const remembered = 50_000

// trim drops the older reads of a log that has become long. What changed something, or met a fault, stays.
func (l Log) trim() Log {
	if len(l) < remembered {
		return l
	}
	var kept Log
	for i, e := range l {
		if i > remembered/2 || e.Method != http.MethodGet || len(e.Faults) > 0 {
			kept = append(kept, e)
		}
	}
	return kept
}

// Select are the entries of a method whose path matches a pattern such as "/v2/droplets"; empty matches all.
func (l Log) Select(method, pattern string) Log {
	var some Log
	for _, e := range l {
		matched, err := path.Match(pattern, e.Path)
		if (method == "" || e.Method == method) && (pattern == "" || err == nil && matched) {
			some = append(some, e)
		}
	}
	return some
}

// Done are the entries that changed something.
func (l Log) Done() Log {
	var some Log
	for _, e := range l {
		if e.Done {
			some = append(some, e)
		}
	}
	return some
}

// Made are the objects that the entries created, such as "droplet/300000004".
func (l Log) Made() []string {
	var all []string
	for _, e := range l {
		all = append(all, e.Made...)
	}
	return all
}

// shown is a body without what is secret: user data, and the query of a URL, which may be a signature.
func shown(body []byte) map[string]any {
	var fields map[string]any
	if json.Unmarshal(body, &fields) != nil {
		return nil
	}
	if _, has := fields["user_data"]; has {
		fields["user_data"] = "(not logged)"
	}
	if address, is := fields["url"].(string); is {
		fields["url"] = withoutQuery(address)
	}
	return fields
}

// withoutQuery is a URL without the parts that may be credentials.
func withoutQuery(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(not a URL)"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
