package clouds

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/cloud"
)

// account is what a cloud has, and its audit log.
type account struct {
	cloud.Shown
	Audit cloud.Log
}

// kind is something that a cloud has.
type kind struct {
	// name is that of one; deleted is what the cloud calls it that deletes it, empty when it cannot be deleted.
	name, deleted string
	titles        []string
}

// The kinds.
const (
	dropletKind = "droplet"
	imageKind   = "image"
	keyKind     = "key"
	ipKind      = "ip"
	actionKind  = "action"
	faultKind   = "fault"
	auditKind   = "audit"
)

// kinds are what a cloud has, the audit log last.
func kinds() []kind {
	return []kind{
		{dropletKind, "droplet", []string{"ID", "NAME", "STATUS", "REGION", "SIZE", "IMAGE", "PUBLIC IPV4"}},
		{imageKind, "image", []string{"ID", "NAME", "STATUS", "REGIONS", "MIN DISK", "MESSAGE"}},
		{keyKind, "ssh_key", []string{"ID", "NAME", "FINGERPRINT"}},
		{ipKind, "reserved_ip", []string{"IP", "REGION", "DROPLET"}},
		{actionKind, "", []string{"ID", "TYPE", "STATUS", "OF", "STARTED"}},
		{faultKind, "", []string{"KIND", "METHOD", "PATH", "TIMES"}},
		{auditKind, "", []string{"REQUEST", "TIME", "METHOD", "PATH", "STATUS", "MADE", "FAULTS"}},
	}
}

// rows are the objects of a kind as a table has them.
func (k kind) rows(a account) [][]string {
	switch k.name {
	case dropletKind:
		return dropletRows(a)
	case imageKind:
		return imageRows(a)
	case keyKind:
		return keyRows(a)
	case ipKind:
		return addressRows(a)
	case actionKind:
		return actionRows(a)
	case faultKind:
		return faultRows(a)
	}
	return auditRows(a)
}

// all are the objects of a kind.
func (k kind) all(a account) any {
	return map[string]any{
		dropletKind: a.Droplets, imageKind: a.Images, keyKind: a.Keys, ipKind: a.Reserved, actionKind: a.Actions, faultKind: a.Faults, auditKind: a.Audit,
	}[k.name]
}

func kindNames() []string {
	var all []string
	for _, k := range kinds() {
		all = append(all, plural(k.name))
	}
	return all
}

func plural(name string) string {
	if name == auditKind {
		return name
	}
	return name + "s"
}

// findKind is the kind with a name, or with that of several.
func findKind(name string) (kind, error) {
	all := kinds()
	at := slices.IndexFunc(all, func(k kind) bool { return k.name == name || plural(k.name) == name })
	if at < 0 {
		return kind{}, fmt.Errorf("the simulated cloud has no %q: use %s", name, strings.Join(kindNames(), ", "))
	}
	return all[at], nil
}

func dropletRows(a account) [][]string {
	var rows [][]string
	for _, d := range a.Droplets {
		rows = append(rows, []string{strconv.Itoa(d.ID), d.Name, d.Status, d.Region, d.Size, strconv.Itoa(d.Image), dash(d.PublicV4)})
	}
	return rows
}

func imageRows(a account) [][]string {
	var rows [][]string
	for _, i := range a.Images {
		rows = append(rows, []string{strconv.Itoa(i.ID), i.Name, i.Status, dash(strings.Join(i.Regions, ",")), strconv.Itoa(i.MinDisk), dash(i.Error)})
	}
	return rows
}

func keyRows(a account) [][]string {
	var rows [][]string
	for _, k := range a.Keys {
		rows = append(rows, []string{strconv.Itoa(k.ID), k.Name, k.Fingerprint})
	}
	return rows
}

func addressRows(a account) [][]string {
	var rows [][]string
	for _, r := range a.Reserved {
		droplet := ""
		if r.Droplet != 0 {
			droplet = strconv.Itoa(r.Droplet)
		}
		rows = append(rows, []string{r.IP, r.Region, dash(droplet)})
	}
	return rows
}

func actionRows(a account) [][]string {
	var rows [][]string
	for _, one := range a.Actions {
		rows = append(rows, []string{strconv.Itoa(one.ID), one.Type, one.Status, one.Of + "/" + one.Resource, moment(one.Started)})
	}
	return rows
}

func faultRows(a account) [][]string {
	var rows [][]string
	for _, f := range a.Faults {
		rows = append(rows, []string{string(f.Kind), dash(f.Method), dash(f.Path), strconv.Itoa(f.Times)})
	}
	return rows
}

func auditRows(a account) [][]string {
	var rows [][]string
	for _, e := range a.Audit {
		var faults []string
		for _, f := range e.Faults {
			faults = append(faults, string(f))
		}
		rows = append(rows, []string{
			e.ID, moment(e.Time), e.Method, e.Path, strconv.Itoa(e.Status), dash(strings.Join(e.Made, ",")), dash(strings.Join(faults, ",")),
		})
	}
	return rows
}

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
