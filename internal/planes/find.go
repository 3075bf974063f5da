package planes

import (
	"slices"
	"strings"
)

// Find lists the planes that a person may mean by a name: the one of this name; else those of which a user has it as its namespace, its name or both
// (NAMESPACE/NAME); else, as for planes that have stopped, those whose own name shows it. A user is "KIND NAMESPACE/NAME".
func Find(all []Status, name string) []Status {
	used := func(user string) bool {
		_, id, _ := strings.Cut(user, " ")
		namespace, own, _ := strings.Cut(id, "/")
		return slices.Contains([]string{id, namespace, own}, name)
	}
	said := strings.ReplaceAll(name, "/", "-")
	for _, is := range []func(Status) bool{
		func(s Status) bool { return s.Name == name },
		func(s Status) bool { return slices.ContainsFunc(s.Users, used) },
		func(s Status) bool {
			if len(s.Users) > 0 && said != name {
				return false
			}
			// What follows the last dash tells planes apart whose names begin alike, as a long name is cut.
			shown := s.Name[:max(strings.LastIndexByte(s.Name, '-'), 0)]
			return shown != "" && (strings.HasPrefix(shown+"-", said+"-") || strings.HasPrefix(said, shown))
		},
	} {
		if found := slices.DeleteFunc(slices.Clone(all), func(s Status) bool { return !is(s) }); len(found) > 0 {
			return found
		}
	}
	return nil
}
