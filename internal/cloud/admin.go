package cloud

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"
)

// Prefix is where the administrative interface is, which the real API does not have.
const Prefix = "/_headgate/"

// adminRoutes are those of the administrative interface.
func (c *Cloud) adminRoutes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, e := range map[string]endpoint{
		"GET " + Prefix + "state":                    (*exchange).showState,
		"GET " + Prefix + "audit":                    (*exchange).showAudit,
		"GET " + Prefix + "faults":                   (*exchange).showFaults,
		"POST " + Prefix + "faults":                  (*exchange).addFaults,
		"DELETE " + Prefix + "faults":                (*exchange).clearFaults,
		"POST " + Prefix + "clock":                   (*exchange).moveClock,
		"DELETE " + Prefix + "{kind}/{id}":           (*exchange).erase,
		"POST " + Prefix + "droplets/{id}/power-off": (*exchange).powerOff,
	} {
		mux.Handle(pattern, e)
	}
	return mux
}

// administer serves the administrative interface: for the token of the account, beside limits, faults and audit.
func (x *exchange) administer() {
	if _, err := x.authorize(); err != nil {
		x.write(0, nil, err)
		return
	}
	x.admin.ServeHTTP(x, x.r)
	if x.r.Method == http.MethodGet {
		return
	}
	if err := x.store.save(&x.state); err != nil {
		x.write(0, nil, err)
	}
}

// Shown is what the account has, as the administrative interface shows it.
type Shown struct {
	Droplets []*Droplet    `json:"droplets"`
	Images   []*Image      `json:"images"`
	Keys     []*Key        `json:"ssh_keys"`
	Reserved []*ReservedIP `json:"reserved_ips"`
	Actions  []*Action     `json:"actions"`
	Faults   []*Fault      `json:"faults"`
}

// shown is what the account has by now, without public images, deleted ones and queries of URLs.
func (s *State) shown() Shown {
	images := []*Image{}
	for _, i := range s.Images {
		if i.Public || i.Deleted {
			continue
		}
		one := *i
		if one.Import != nil {
			from := *one.Import
			from.URL = withoutQuery(from.URL)
			one.Import = &from
		}
		images = append(images, &one)
	}
	return Shown{
		Droplets: slices.Clone(s.Droplets), Images: images, Keys: slices.Clone(s.Keys), Reserved: slices.Clone(s.Reserved),
		Actions: slices.Clone(s.Actions), Faults: slices.Clone(s.Faults),
	}
}

// Account is what the account has by now. It is a copy.
func (c *Cloud) Account() (Shown, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.proceed(c.clock.Now())
	data, err := json.Marshal(c.state.shown())
	if err != nil {
		return Shown{}, err
	}
	var copied Shown
	return copied, json.Unmarshal(data, &copied)
}

func (x *exchange) showState() (int, any, error) { return http.StatusOK, x.state.shown(), nil }

func (x *exchange) showAudit() (int, any, error) {
	query := x.r.URL.Query()
	return http.StatusOK, object{"entries": append(Log{}, x.audit.Select(query.Get("method"), query.Get("path"))...)}, nil
}

func (x *exchange) showFaults() (int, any, error) {
	return http.StatusOK, object{"faults": append([]*Fault{}, x.state.Faults...)}, nil
}

func (x *exchange) addFaults() (int, any, error) {
	var wanted []Fault
	if err := x.read(&wanted); err != nil {
		return 0, nil, err
	}
	for _, f := range wanted {
		if err := f.check(); err != nil {
			return 0, nil, unprocessable("%v", err)
		}
	}
	x.state.inject(wanted)
	return x.showFaults()
}

func (x *exchange) clearFaults() (int, any, error) {
	x.state.Faults = nil
	return http.StatusNoContent, nil, nil
}

// moveClock moves a clock that is held.
func (x *exchange) moveClock() (int, any, error) {
	var wanted struct {
		Advance string `json:"advance"`
	}
	if err := x.read(&wanted); err != nil {
		return 0, nil, err
	}
	by, err := time.ParseDuration(wanted.Advance)
	held, is := x.clock.(*Manual)
	switch {
	case !is:
		return 0, nil, problem(http.StatusConflict, "The clock of the cloud runs, and cannot be moved.")
	case err != nil || by < 0:
		return 0, nil, unprocessable("advance: %q is not a duration", wanted.Advance)
	}
	held.Advance(by)
	return http.StatusNoContent, nil, nil
}

func (x *exchange) erase() (int, any, error) {
	return disturbed(x.state.erase(x.r.PathValue("kind"), x.r.PathValue("id")))
}

func (x *exchange) powerOff() (int, any, error) {
	d, err := x.state.dropletBy(x.r.PathValue("id"))
	if err == nil {
		d.Status = off
	}
	return disturbed(err)
}

func disturbed(err error) (int, any, error) {
	switch {
	case errors.Is(err, errAbsent):
		return 0, nil, problem(http.StatusNotFound, "%v", err)
	case err != nil:
		return 0, nil, unprocessable("%v", err)
	}
	return http.StatusNoContent, nil, nil
}
