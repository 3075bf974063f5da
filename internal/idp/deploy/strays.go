package deploy

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/idp"
)

// namedStrays is how many files a line names.
const namedStrays = 5

// name names the files that declare no package, in one line for each directory, when they are others than before. One that cannot be read, and
// that a package is deployed from, is a problem instead.
func (d *Deployer) name(result *idp.Result) {
	files := map[string][]string{}
	for _, s := range result.Strays {
		if s.Err != nil && d.deployedFrom(s.File) {
			result.Problems = append(result.Problems, idp.Problem{Argument: s.Argument, File: s.File, Err: s.Err})
			continue
		}
		dir, text := filepath.Dir(s.File), filepath.Base(s.File)
		if s.Err != nil {
			text += fmt.Sprintf(" (%v)", s.Err)
		}
		if !slices.Contains(files[dir], text) {
			files[dir] = append(files[dir], text)
		}
	}
	now := map[string]string{}
	for dir, names := range files {
		more := len(names) - namedStrays
		names = names[:min(len(names), namedStrays)]
		if more > 0 {
			names = append(slices.Clone(names), fmt.Sprintf("and %d more", more))
		}
		now[dir] = fmt.Sprintf("left out of %s, since they declare no Application or ApplicationSet: %s", dir, strings.Join(names, ", "))
	}
	for _, dir := range slices.Sorted(maps.Keys(now)) {
		if now[dir] != d.strays[dir] {
			d.cfg.Note("package", now[dir])
		}
	}
	d.strays = now
}

// deployedFrom reports whether a file declared a package that is deployed.
func (d *Deployer) deployedFrom(file string) bool {
	for _, p := range d.declared {
		if p.File == file {
			return true
		}
	}
	return false
}
