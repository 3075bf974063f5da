package boot

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/roots"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/offline"
	"github.com/headgate-dev/headgate/internal/source"
)

// errUnanswered is returned when a person interrupts the question for the root: nothing was started.
var errUnanswered = errors.New("interrupted before a root was chosen")

// locate says which directory is served, and what the cluster begins with, before anything is started.
func (s *system) locate(ctx context.Context) error {
	var err error
	if s.ageKey, s.keyFrom, err = console.GivenKeys(s.options.ageKeyFile); err != nil {
		return err
	}
	if !s.options.served() {
		return nil
	}
	s.layout, err = offline.FindLayout(s.options.Catalogue, s.options.path, s.options.root)
	var several *offline.AmbiguousRootError
	if errors.Is(err, offline.ErrNoRoot) && !errors.As(err, &several) {
		if found, failed := s.wholeRoot(); found || failed != nil {
			return failed
		}
	}
	if several != nil && interactive(s.options.IO) {
		chosen, ok := choose(ctx, s.options.IO.In, s.options.IO.Err, "There are several roots in "+several.Dir+".", several.Candidates)
		if ok {
			s.layout, err = offline.FindLayout(s.options.Catalogue, s.options.path, chosen)
		}
		if ctx.Err() != nil {
			return errUnanswered
		}
	}
	if err != nil {
		return console.Helpful(err)
	}
	if s.objects, err = console.RootObjects(s.options.Catalogue, s.layout); err != nil {
		return err
	}
	s.whole = s.whole || len(s.objects) == 0 && s.unitless()
	return s.refuseUnknown()
}

// unitless reports whether the directory of the root that was named holds no units, which would wait for the health of objects.
func (s *system) unitless() bool {
	var several *offline.AmbiguousRootError
	_, err := offline.FindLayout(s.options.Catalogue, filepath.Join(s.layout.Repository, filepath.FromSlash(s.layout.Root)), "")
	return errors.Is(err, offline.ErrNoRoot) && !errors.As(err, &several)
}

// refuseUnknown refuses a root of objects among which is not one of a kind that is served: there would be nothing to follow, and nothing that becomes
// ready.
func (s *system) refuseUnknown() error {
	known := func(o *unstructured.Unstructured) bool {
		_, is := s.options.Catalogue.Kind(console.GroupKindOf(o))
		return is
	}
	if len(s.objects) == 0 || slices.ContainsFunc(s.objects, known) {
		return nil
	}
	return console.Hint(fmt.Errorf("%s declares no Kustomization, Application or other object of a kind that is served, so that nothing would be followed; a directory is applied as a whole", s.layout.Root),
		"headgate up %s --path %s", s.options.path, path.Dir(s.layout.Root))
}

// wholeRoot takes a directory without units for the root: a chart is installed, and a kustomization or files of objects are applied.
func (s *system) wholeRoot() (found bool, err error) {
	dir := s.options.path
	whole, err := console.WholeOf(dir)
	if err != nil || whole == console.WholeNone {
		return false, err
	}
	if s.layout, err = offline.FindLayout(s.options.Catalogue, dir, "."); err != nil {
		return false, err
	}
	s.whole = true
	if whole == console.WholeChart {
		s.objects = []*unstructured.Unstructured{roots.ChartRelease(filepath.Base(filepath.Join(s.layout.Repository, s.layout.Root)), "./"+s.layout.Root)}
	}
	return true, nil
}

// findRoot says what up begins with.
func (s *system) findRoot() (roots.Root, error) {
	if s.options.remote() {
		return s.options.remoteRoot()
	}
	_, artifact := s.artifact()
	root := roots.Root{
		URL: s.server.URL(repository), Branch: s.mirror.Branch(), For: s.mirror.Root(), Wait: s.whole, Artifact: artifact,
		Credentials: map[string][]byte{"username": []byte(gitUser), "password": []byte(s.token)},
	}
	if root.Objects = s.objects; len(root.Objects) == 0 {
		root.Path = s.layout.Root
	} else if !s.options.serving.groups.Serves(toolkit.SourceGroup) {
		// The kind of the source is unknown here.
		root.URL = ""
	}
	return root, nil
}

// putRoot makes the root objects.
func (s *system) putRoot(ctx context.Context) error {
	if s.options.path == "" {
		return nil
	}
	root, err := s.findRoot()
	if err != nil {
		return err
	}
	root.AgeKey, root.Served = s.ageKey, s.options.serving.groups
	root.Left = func(id engine.ObjectID, why string) {
		s.say.Problem("root", id.String()+" is not applied: "+why)
	}
	if err := roots.PutRoot(ctx, s.config, root); err != nil {
		return err
	}
	what := root.Path
	if what == "" {
		what = fmt.Sprintf("%d objects of %s", len(root.Objects), s.layout.Root)
		if len(root.Objects) == 1 {
			what = "1 object of " + s.layout.Root
		}
	}
	if root.Artifact {
		what += "; OCIRepository " + toolkit.Namespace + "/" + toolkit.System + " is the working copy"
	}
	s.say.Done("root", what)
	if s.keyFrom != "" {
		s.say.Info("age key", "of "+s.keyFrom+", in Secret "+toolkit.Namespace+"/"+roots.AgeSecret)
	}
	return nil
}

// followRoot applies the objects of the root again when one of its files was saved. A directory is followed by its unit.
func (s *system) followRoot(ctx context.Context) {
	if len(s.objects) == 0 || s.whole || s.leader.current() == nil {
		return
	}
	objects, err := console.RootObjects(s.options.Catalogue, s.layout)
	if err != nil || len(objects) == 0 {
		if err != nil {
			s.say.Problem("root", err.Error())
		}
		return
	}
	if reflect.DeepEqual(objects, s.objects) {
		return
	}
	s.objects = objects
	if err := s.putRoot(ctx); err != nil && ctx.Err() == nil {
		s.say.Problem("root", err.Error())
	}
}

// rootIDs are the objects of the root, which no unit may touch.
func (s *system) rootIDs() map[engine.ObjectID]bool {
	ids := roots.RootIDs()
	if _, is := s.artifact(); is {
		ids[roots.ArtifactID()] = true
	}
	return ids
}

// pushedTo is the working copy as it stands in for the artifact with a URL.
func (s *system) pushedTo(url string, local source.Local) (source.Local, bool) {
	if url != roots.ArtifactURL {
		return source.Local{}, false
	}
	local.Branch = s.mirror.Branch()
	local.Dir, _ = s.artifact()
	return local, true
}

// artifact is the directory of the working copy that units read by an OCIRepository of the name of the root, if any do.
func (s *system) artifact() (dir string, is bool) {
	if !s.options.served() || !s.options.serving.groups.Serves(toolkit.SourceGroup) {
		return "", false
	}
	if s.pushed == nil {
		s.pushed = sync.OnceValues(func() (string, bool) { return roots.FindArtifact(s.layout.Repository, s.layout.Root) })
	}
	return s.pushed()
}

// putAccounts creates the accounts that an installation of Flux brings, which repositories name.
func (s *system) putAccounts(ctx context.Context) error {
	return roots.PutAccounts(ctx, s.config, s.options.serving.groups)
}
