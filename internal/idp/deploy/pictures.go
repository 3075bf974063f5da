package deploy

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/idpbuilder/v1alpha1"
	"github.com/headgate-dev/headgate/internal/idp"
)

// The names of idpbuilder's own objects.
const (
	localbuild    = "localdev"
	pictureSpace  = "idpbuilder-" + localbuild
	pictureDomain = "cnoe.localtest.me"
	pictureScheme = "https"
	picturePort   = "8443"
)

// ObjectAnnotation has the key of what an object of idpbuilder's kinds shows.
const ObjectAnnotation = "headgate.dev/package-object"

// picture is an object of one of idpbuilder's kinds: it shows what was read, and is never read itself.
type picture struct {
	kind string
	meta metav1.ObjectMeta
	// spec and status are those of the types of the API.
	spec any
	// status is made when the object is there: of its generation, and of those that are written before it.
	status func(generation int64, written written) any
}

// written are references to pictures that are in the cluster, by kind and name.
type written map[string]v1alpha1.ObjectRef

// pictures are those of what was read, in the order in which they are written: those that others refer to come first.
func (d *Deployer) pictures(result idp.Result) []picture {
	all := []picture{d.buildPicture()}
	var packages []picture
	read := slices.Clone(result.Packages)
	for _, key := range slices.Sorted(maps.Keys(d.declared)) {
		// What cannot be read now is shown as it was; packages of an earlier start have no name.
		if p := d.declared[key]; p.Name != "" && !slices.ContainsFunc(read, func(r idp.Package) bool { return r.Key() == key }) {
			read = append(read, p)
		}
	}
	for _, p := range read {
		for _, r := range p.Repositories {
			all = append(all, d.repositoryPicture(p, r))
		}
		packages = append(packages, d.packagePicture(p))
	}
	return append(all, packages...)
}

// buildPicture shows the arguments, and what serves the packages.
func (d *Deployer) buildPicture() picture {
	var packages v1alpha1.PackageConfigs
	packages.Argo.Enabled = true
	for _, input := range d.inputs {
		switch input.Kind {
		case idp.Directory:
			packages.CustomPackageDirs = append(packages.CustomPackageDirs, input.Path)
		case idp.File:
			packages.CustomPackageFiles = append(packages.CustomPackageFiles, input.Path)
		case idp.URL:
			packages.CustomPackageURLs = append(packages.CustomPackageURLs, input.Argument)
		}
	}
	waits := d.held()
	return picture{
		kind: v1alpha1.LocalbuildKind,
		meta: metav1.ObjectMeta{Name: localbuild, Annotations: map[string]string{
			v1alpha1.CLIStartTimeAnnotation: d.started, v1alpha1.LastObservedCLIStartTimeAnnotation: d.started,
		}},
		spec: &v1alpha1.LocalbuildSpec{PackageConfigs: packages, BuildCustomization: v1alpha1.BuildCustomization{
			Protocol: pictureScheme, Host: pictureDomain, Port: picturePort,
		}},
		status: func(generation int64, _ written) any {
			return &v1alpha1.LocalbuildStatus{
				ObservedGeneration: generation,
				ArgoCD:             v1alpha1.ArgoCDStatus{Available: true, AppsCreated: !waits},
				Gitea: v1alpha1.GiteaStatus{
					Available: true, ExternalURL: base, InternalURL: base, AdminUserSecretName: GiteaSecret, AdminUserSecretNamespace: GiteaNamespace,
				},
			}
		},
	}
}

// packagePicture shows one object that was read, and whether it has been applied.
func (d *Deployer) packagePicture(p idp.Package) picture {
	key := p.Key()
	synced := len(p.Problems) == 0 && d.applied[key] != ""
	spec := &v1alpha1.CustomPackageSpec{
		ArgoCD: v1alpha1.ArgoCDPackage{
			ApplicationFile: p.File, Name: p.Object.GetName(), Namespace: p.Object.GetNamespace(), Type: p.Object.GetKind(),
		},
		GitServerURL: base, GitServerAuthSecretRef: v1alpha1.SecretReference{Name: GiteaSecret, Namespace: GiteaNamespace},
		InternalGitServeURL: base, Replicate: true,
	}
	if p.Input.Kind == idp.URL {
		spec.RemoteRepository = remotePicture(p.Input.Remote, p.Input.Remote.Path)
		if within, err := filepath.Rel(p.Input.Path, p.File); err == nil {
			spec.ArgoCD.ApplicationFile = filepath.ToSlash(within)
		}
	}
	meta := d.pictureMeta(p, p.Name, synced)
	meta.Labels = map[string]string{v1alpha1.PackageNameLabel: p.Object.GetName(), v1alpha1.PackageTypeLabel: idp.PackageType(p.Object.GetName())}
	var repositories []string
	for _, r := range p.Repositories {
		repositories = append(repositories, r.Object)
	}
	return picture{
		kind: v1alpha1.CustomPackageKind, meta: meta, spec: spec,
		status: func(generation int64, there written) any {
			status := &v1alpha1.CustomPackageStatus{ObservedGeneration: generation, Synced: synced}
			for _, name := range repositories {
				if ref, is := there[v1alpha1.GitRepositoryKind+"/"+name]; is {
					status.GitRepositoryRefs = append(status.GitRepositoryRefs, ref)
				}
			}
			return status
		},
	}
}

// repositoryPicture shows the repository of one directory, with its commit.
func (d *Deployer) repositoryPicture(p idp.Package, r idp.Repository) picture {
	commit := d.shown[r.Name].revision
	source := v1alpha1.GitRepositorySource{Type: v1alpha1.SourceLocal, Path: filepath.Join(r.Root, filepath.FromSlash(r.Dir))}
	if r.Remote.URL != "" {
		source = v1alpha1.GitRepositorySource{Type: v1alpha1.SourceRemote, Path: r.Dir, RemoteRepository: remotePicture(r.Remote, r.Dir)}
	}
	return picture{
		kind: v1alpha1.GitRepositoryKind, meta: d.pictureMeta(p, r.Object, commit != ""),
		spec: &v1alpha1.GitRepositorySpec{
			Source:    source,
			Provider:  v1alpha1.Provider{Name: v1alpha1.ProviderGitea, GitURL: base, InternalGitURL: base, OrganizationName: idp.Owner},
			SecretRef: v1alpha1.SecretReference{Name: GiteaSecret, Namespace: GiteaNamespace},
		},
		status: func(generation int64, _ written) any {
			return &v1alpha1.GitRepositoryStatus{
				ObservedGeneration: generation, LatestCommit: v1alpha1.Commit{Hash: commit}, Synced: commit != "",
				ExternalGitRepositoryURL: r.URL(base), InternalGitRepositoryURL: r.URL(base), Path: ".",
			}
		},
	}
}

// pictureMeta is the metadata of a picture of a package.
func (d *Deployer) pictureMeta(p idp.Package, name string, synced bool) metav1.ObjectMeta {
	annotations := map[string]string{
		ArgumentAnnotation: p.Input.Argument, ObjectAnnotation: p.Key(),
		v1alpha1.CLIStartTimeAnnotation:      d.started,
		v1alpha1.PackagePriorityAnnotation:   strconv.Itoa(p.Priority),
		v1alpha1.PackageSourcePathAnnotation: p.Input.Path,
	}
	if p.Input.Kind == idp.URL {
		annotations[v1alpha1.PackageSourcePathAnnotation] = p.Input.Argument
	}
	if synced {
		annotations[v1alpha1.LastObservedCLIStartTimeAnnotation] = d.started
	}
	return metav1.ObjectMeta{Name: name, Namespace: pictureSpace, Annotations: annotations}
}

// remotePicture is a directory of a remote repository.
func remotePicture(r idp.Remote, directory string) v1alpha1.RemoteRepository {
	return v1alpha1.RemoteRepository{URL: r.URL, Ref: r.Ref, CloneSubmodules: r.Submodules, Path: path.Clean(cmp.Or(directory, "."))}
}

// orphaned reports whether a picture that is not wanted any more goes: that of an argument which is not given stays with its package, and so do
// those of packages that cannot be read now.
func (d *Deployer) orphaned(result idp.Result, argument, key string) bool {
	if !slices.ContainsFunc(d.inputs, func(i idp.Input) bool { return i.Argument == argument }) {
		return false
	}
	at := slices.IndexFunc(result.Packages, func(p idp.Package) bool { return p.Key() == key })
	if at >= 0 {
		return len(result.Packages[at].Problems) == 0
	}
	_, declared := d.declared[key]
	return !declared
}

// Show has objects of idpbuilder's kinds show the packages, in a cluster that serves them. It comes before Begin.
func (d *Deployer) Show(pictured bool) { d.pictured = pictured }

// repaint is how often edits of pictures are searched for.
const repaint = 5 * time.Second

// paint writes the pictures of what was read last, and names what keeps them from being written, once.
func (d *Deployer) paint(ctx context.Context) {
	d.painted = time.Now()
	if !d.pictured {
		return
	}
	err := d.writePictures(ctx, d.last)
	if ctx.Err() != nil {
		return
	}
	text := ""
	if err != nil {
		text = fmt.Sprintf("showing packages as objects of idpbuilder: %v", err)
	}
	if text != "" && text != d.unpainted {
		d.cfg.Problem("package", text)
	}
	d.unpainted = text
}
