package render

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Kustomize wraps an error once for each kustomization on the way to it, as text. These find the
// innermost entry, which is the one to change.
var (
	enteredPattern = regexp.MustCompile(`recursed (?:accumulation of|merging from) path '([^']+)'`)
	entryPattern   = regexp.MustCompile(`(?:accumulating (resources|components)(?: from)?|merging resources from|load generator from path|loading transformer from path:?) '([^']+)':? ?`)
	invalidPattern = regexp.MustCompile(`(?:.*couldn't make target for path '([^']+)': )?invalid Kustomization: `)
	malformed      = regexp.MustCompile(`MalformedYAMLError: (.*) in File: (\S+)`)
	linePrefix     = regexp.MustCompile(`^line (\d+): `)
)

// explain turns an error of kustomize into one that names the file to change.
func (f *treeFS) explain(dir string, err error) error {
	text := strings.Join(strings.Fields(err.Error()), " ")
	if at := strings.Index(text, ": must build at directory"); at > 0 {
		text = text[:at]
	}
	if f.inflater != nil && strings.Contains(text, "must specify --enable-helm") {
		return &Error{File: f.named(dir), Field: "helmCharts", Err: errors.New("a remote base contains a chart; add the base to the repository to inflate the chart")}
	}
	where := dir
	if entered := enteredPattern.FindAllStringSubmatchIndex(text, -1); len(entered) > 0 {
		last := entered[len(entered)-1]
		where = absolute(text[last[2]:last[3]])
		text = strings.TrimPrefix(text[last[1]:], ": ")
	}
	if m := malformed.FindStringSubmatch(text); m != nil {
		return f.malformed(path.Join(where, strings.TrimPrefix(strings.TrimPrefix(strings.TrimRight(m[2], "'"), where), root)), m[1])
	}
	if m := invalidPattern.FindStringSubmatch(text); m != nil {
		for _, dir := range []string{path.Join(where, strings.TrimPrefix(m[1], where)), absolute(m[1]), where} {
			if located := f.refused(dir, text); located != nil {
				return located
			}
		}
	}
	entries := entryPattern.FindAllStringSubmatchIndex(text, -1)
	if len(entries) == 0 {
		return &Error{File: f.named(where), Err: errors.New(plain(text))}
	}
	last := entries[len(entries)-1]
	entry, cause := text[last[4]:last[5]], text[last[1]:]
	if strings.Count(cause, "'")%2 == 1 {
		cause = strings.TrimSuffix(cause, "'")
	}
	for _, missing := range []string{"missing Resource metadata", "missing metadata.name", "missing kind"} {
		if strings.HasPrefix(cause, missing) {
			return &Error{File: inTree(path.Join(where, entry)), Err: errors.New("not a Kubernetes object: " + missing)}
		}
	}
	return &Error{File: f.named(where), Field: fmt.Sprintf("entry %q", entry), Err: errors.New(f.cause(path.Join(where, entry), plain(cause)))}
}

// malformed is the error about a file that is no YAML, with the line in it.
func (f *treeFS) malformed(name, text string) *Error {
	if data, err := f.ReadFile(name); err == nil {
		if line, wrong := Syntax(data); wrong != nil {
			return &Error{File: inTree(name), Line: line, Err: wrong}
		}
	}
	return &Error{File: inTree(name), Err: errors.New(text)}
}

// refused is the error about the kustomization of a directory that cannot be read; nil if it can.
func (f *treeFS) refused(dir, text string) *Error {
	name, err := f.kustomizationFile(dir)
	if err != nil || name == "" {
		return nil
	}
	data, err := f.ReadFile(name)
	if err != nil || (&types.Kustomization{}).Unmarshal(data) == nil {
		return nil
	}
	return refused(inTree(name), data, errors.New(text))
}

// absolute is a path that kustomize names, in the file system that it sees.
func absolute(p string) string {
	if strings.HasPrefix(p, mounts+"/") {
		return p
	}
	return path.Join(root, strings.TrimPrefix(p, root))
}

// cause shortens what kustomize says of an entry that it tried as a file and as a directory.
func (f *treeFS) cause(entry, text string) string {
	switch {
	case !f.Exists(entry) && strings.Contains(text, "file does not exist"):
		return inTree(entry) + ": no such file or directory"
	case f.IsDir(entry) && strings.Contains(text, "unable to find one of"):
		return "the directory has no kustomization.yaml"
	}
	if at := strings.LastIndex(text, "cycle detected"); at >= 0 {
		return text[at:]
	}
	return text
}

// named is the kustomization of a directory, or the directory when its kustomization was generated.
func (f *treeFS) named(dir string) string {
	name, err := f.kustomizationFile(dir)
	if err != nil || name == "" {
		return inTree(dir)
	}
	if _, file, _, err := f.lookup(name); err != nil || file == nil {
		return inTree(dir)
	}
	return inTree(name)
}

// inTree is a path as the source knows it.
func inTree(p string) string {
	if rel := strings.TrimPrefix(strings.TrimPrefix(p, root), "/"); rel != "" {
		return rel
	}
	return "./"
}

// plain takes our stand-in for the root out of a message.
func plain(text string) string {
	text = strings.ReplaceAll(text, root+"/", "")
	return strings.ReplaceAll(text, "'"+root+"'", "the root")
}

// unreadable explains why an object could not be decoded, and where that is written. It never shows a value.
func (f *treeFS) unreadable(res *resource.Resource, err error) *Error {
	reasons := repetitions(err)
	if len(reasons) == 0 {
		return &Error{Object: describe(res), Err: errors.New("its YAML cannot be decoded")}
	}
	failed := &Error{Object: describe(res), Err: errors.New(strings.Join(reasons, "; "))}
	for _, name := range f.reads.Paths() {
		data, err := f.ReadFile(path.Join(root, name))
		if err != nil {
			continue
		}
		if line := repeated(data, res, reasons[0]); line > 0 {
			failed.File, failed.Line = name, line
			break
		}
	}
	return failed
}

// written is where a label or an annotation of an object is written that is not a string; nowhere if it came about in another way.
func (f *treeFS) written(res *resource.Resource, wrong *engine.NotStringError) (file string, line int) {
	for _, name := range f.reads.Paths() {
		data, err := f.ReadFile(path.Join(root, name))
		if err != nil {
			continue
		}
		if line = Unquoted(data, res.GetKind(), res.GetName(), wrong); line > 0 {
			return name, line
		}
	}
	return "", 0
}

// repetitions are the keys that an object has twice, as errors without their lines: these are of kustomize's own making.
func repetitions(err error) []string {
	var types *yaml.TypeError
	if !errors.As(err, &types) {
		return nil
	}
	var reasons []string
	for _, reason := range types.Errors {
		if strings.Contains(reason, "already defined") {
			reason, _, _ = strings.Cut(linePrefix.ReplaceAllString(reason, ""), " at line")
			reasons = append(reasons, reason)
		}
	}
	return reasons
}
