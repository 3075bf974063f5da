package process

import (
	"os"
	"path/filepath"
	"strings"
)

// onlyFile is the name of a single file where it is kept.
const onlyFile = "file"

// resolve follows the symbolic links of the machine in a path, as far as it exists.
func resolve(path string) string {
	const most = 40
	done, rest := "/", strings.Split(strings.Trim(filepath.Clean(path), "/"), "/")
	for links := 0; len(rest) > 0; {
		next := filepath.Join(done, rest[0])
		target, err := os.Readlink(next)
		if err != nil || links >= most {
			done, rest = next, rest[1:]
			continue
		}
		links++
		if filepath.IsAbs(target) {
			done = "/"
		}
		rest = append(strings.Split(strings.Trim(target, "/"), "/"), rest[1:]...)
	}
	return done
}
