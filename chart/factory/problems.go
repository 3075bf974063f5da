package factory

import (
	"fmt"
	"strings"

	"github.com/headgate-dev/headgate/chart"
)

// origin is where the parts of a configuration are: a line of YAML or Go for each path, "applications[2].chart".
type origin map[string]chart.Position

// of is the line of a path, or of the nearest part around it.
func (o origin) of(path string) chart.Position {
	for {
		if at, known := o[path]; known || path == "" {
			return at
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
}

// problems are the mistakes of a configuration.
type problems struct {
	origin origin
	errors chart.Errors
}

// add keeps a mistake of the part at a path.
func (p *problems) add(path, format string, args ...any) {
	p.errors = append(p.errors, &chart.Error{Path: path, At: p.origin.of(path), Err: fmt.Errorf(format, args...)})
}

// err is all of them as one, or nil.
func (p *problems) err() error { return chart.Join(p.errors) }

// member is the path of a field below another.
func member(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// element is the path of an element of a list.
func element(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
