// Package idp reads packages in the layout of idpbuilder: files of Applications and ApplicationSets, and beside them the directories that
// they name by addresses with the scheme cnoe.
//
// An address is relative to the directory of the file that has it, so that packages work wherever they lie. Read finds out which directories
// the packages name, and what a Git server calls each of them: one repository for each directory of an Application. Rewrite puts the URLs
// of these repositories where the addresses are. Resolve instead makes all addresses one, that of the working copy, with the directory in
// spec.source.path.
//
// It reads files below the directories that were given, and refuses what leaves them, by ".." or by symbolic links. It refuses to
// fetch, to write, and to know a cluster or a server.
package idp

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Kind is what a value of --package names. Each kind has priorities of its own, as idpbuilder counts them.
type Kind string

// The kinds of inputs.
const (
	// Directory is one with files of Applications at its top.
	Directory Kind = "directory"
	// File is a file of Applications.
	File Kind = "file"
	// URL is a directory of a remote repository.
	URL Kind = "url"
)

// Input is one value of --package.
type Input struct {
	// Argument is the value, for messages: without a password.
	Argument string
	// Kind of the input.
	Kind Kind
	// Path is the absolute path of the directory or the file. For a URL it is the directory that the repository has been checked out
	// to, which its reader fills in; addresses of its packages may lead anywhere in the repository, and never out of it.
	Path string
	// Remote is what a URL names.
	Remote Remote
}

// Options say what is read, and how far it reaches.
type Options struct {
	// Inputs are the values of --package, in their order.
	Inputs []Input
	// Roots are absolute paths of directories in which local packages may use addresses with "..". Without any, an address leads into the
	// directory of an input, or below it.
	Roots []string
	// Namespace is that of Applications that name none: argocd by default.
	Namespace string
	// Build is the name of the build, in the names of repositories: localdev by default.
	Build string
}

// Result is what was read.
type Result struct {
	// Packages are those in effect, by wave and name. Those with problems are not to be applied: what was applied of them before stays.
	Packages []Package
	// Overridden are packages of which another input has one with a higher priority.
	Overridden []Override
	// Problems are all there are, those of packages included, by file.
	Problems []Problem
	// Strays are files beside those of packages that declare none: they are left out, and are no problem.
	Strays []Stray
	// Directories are absolute paths of the directories that have files of Applications: another read is due when a file there changes.
	Directories []string

	// empty are files without content, which may be about to be written.
	empty []string
}

// Stray is a file beside those of packages that declares no Application and no ApplicationSet.
type Stray struct {
	// Argument is the value of --package, File the absolute path.
	Argument, File string
	// Err is why the file cannot be read; nil for one that has something else.
	Err error
}

// Override is a package that is not in effect.
type Override struct {
	Package Package
	// By is the file that has the one in effect.
	By string
}

// Package is an Application or an ApplicationSet, with the directories that it names.
type Package struct {
	// Name is that of the CustomPackage: the name of the file up to its first dot, and that of the object.
	Name string
	// Object is as in its file, in the namespace that it will have. Rewrite makes what is to be applied of it.
	Object *unstructured.Unstructured
	// Input is where the package comes from.
	Input Input
	// Priority is the index of the input among those of its kind.
	Priority int
	// File is the absolute path of the file. That of a remote package is below Input.Path.
	File string
	// Wave is argocd.argoproj.io/sync-wave of the object; 0 where that is missing or not a number.
	Wave int
	// Repositories are the directories that the object names, in the order of their first addresses.
	Repositories []Repository
	// Problems are what keeps the package from being applied.
	Problems []Problem

	places map[place]target
}

// Repository is a directory that a Git server has to have as a repository.
type Repository struct {
	// Name is that of the repository, idpbuilder-localdev-shop-manifests. No two of a Result differ only in their case.
	Name string
	// Object is the name of the GitRepository of idpbuilder, shop-manifests.
	Object string
	// Root is the absolute path of the directory that nothing of the repository may leave, and Dir is its own path below it,
	// with slashes; "." if it is the root. Open it by os.OpenRoot(Root): symbolic links may lead anywhere in the root.
	Root, Dir string
	// Remote is what the directory was fetched from; its URL is empty for a local one.
	Remote Remote

	from string // the directory relative to that of the file which names it
}

// Key identifies the object of a package: Application/argocd/shop.
func (p Package) Key() string {
	return p.Object.GetKind() + "/" + p.Object.GetNamespace() + "/" + p.Object.GetName()
}

// Problem is what is wrong with an input, a file, an object or a field of it.
type Problem struct {
	// Argument is the value of --package.
	Argument string
	// File is the absolute path of a file; empty if the input as a whole cannot be read.
	File string
	// Object is such as Application/shop; empty if the file cannot be read.
	Object string
	// Field is such as spec.sources[1].repoURL.
	Field string
	// Err is what is wrong. It has no secret values.
	Err error
}

// Error names the file, the object and the field.
func (p Problem) Error() string {
	at := p.File
	if at == "" {
		at = p.Argument
	}
	for _, part := range []string{p.Object, p.Field} {
		if part != "" {
			at += ": " + part
		}
	}
	return fmt.Sprintf("%s: %v", at, p.Err)
}

// Unwrap is what is wrong.
func (p Problem) Unwrap() error { return p.Err }

// Holds reports whether a package of an earlier Result is still declared, or may be: its file is empty, as while it is written, or its file or its
// input cannot be read now. What it deployed is withdrawn only when it does not hold.
func (r Result) Holds(earlier Package) bool {
	key := earlier.Key()
	if slices.Contains(r.empty, earlier.File) || slices.ContainsFunc(r.Packages, func(p Package) bool { return p.Key() == key }) {
		return true
	}
	unread := func(s Stray) bool {
		return s.Err != nil && s.Argument == earlier.Input.Argument && s.File == earlier.File
	}
	return slices.ContainsFunc(r.Strays, unread) || slices.ContainsFunc(r.Problems, func(p Problem) bool {
		return p.Object == "" && p.Argument == earlier.Input.Argument && (p.File == "" || p.File == earlier.File)
	})
}

// URL is the address of the repository on a server whose base is such as https://gitea.cnoe.localtest.me:8443, where idpbuilder's
// account owns it.
func (r Repository) URL(base string) string {
	return strings.TrimSuffix(base, "/") + "/" + Owner + "/" + r.Name + ".git"
}

// Owner is the account that owns the repositories of packages.
const Owner = "giteaAdmin"
