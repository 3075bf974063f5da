// Package buildinfo knows which build of Headgate this is.
package buildinfo

import (
	"runtime/debug"
	"strings"
)

// Set by the linker; a plain "go build" leaves them empty.
var version, commit string

// Version is the version of the build, "dev" when it has none.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

// Commit is the commit of the build, "unknown" when that was not recorded. It ends in "-dirty" when
// the build held changes that are not in the commit.
func Commit() string {
	if commit != "" {
		return commit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	revision := settings["vcs.revision"]
	if revision == "" {
		return "unknown"
	}
	if strings.EqualFold(settings["vcs.modified"], "true") {
		revision += "-dirty"
	}
	return revision
}
