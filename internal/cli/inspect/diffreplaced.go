package inspect

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
)

// leaves reports whether an object is left out: no engine applies it, since Headgate serves instead. Another cluster than the embedded one
// may have the controllers of an upstream all the same; there it is left out only if it is absent.
func (d *differ) leaves(o *unstructured.Unstructured, absent bool) bool {
	why := d.replaced.Why(o)
	if why == "" || d.Real() && !absent {
		return false
	}
	d.left[why] = append(d.left[why], engine.IDOf(o).String())
	return true
}

// tellLeft says in a line for each reason what was left out.
func (d *differ) tellLeft() {
	for _, why := range slices.Sorted(maps.Keys(d.left)) {
		names := d.left[why]
		slices.Sort(names)
		names = slices.Compact(names)
		of := "them"
		if len(names) == 1 {
			of = "it"
		}
		fmt.Fprintf(d.IO.Err, "· %s left out, no engine applies %s: %s (%s)\n", console.Counted(len(names), "object"), of, why, engine.First(names, maxLeft))
	}
}

// maxLeft bounds how many of the objects that are left out are named.
const maxLeft = 3
