package policy

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/redaction"
)

// Validate says what is wrong about an Application, as conditions of type InvalidSpecError; none are there for one that
// may be synced. The project is nil where none has the name. The first thing that hides others ends the search.
//
// Texts are upstream's, since people and programs look for them.
func Validate(app *v1alpha1.Application, project *Project, s settings.Settings, installation string) []v1alpha1.ApplicationCondition {
	if err := Uses(app, project, installation); err != nil {
		return conditions(err)
	}
	if err := sourcesAreThere(app.Spec); err != nil {
		return conditions(err)
	}
	errs := append(permittedSources(app.Spec, project), project.PermitsDecryption(app, installation))
	cluster, err := Destination(app.Spec.Destination, s)
	if err != nil {
		return conditions(append(errs, err)...)
	}
	shown := cluster.Server
	if app.Spec.Destination.Name != "" {
		shown = cluster.Name
	}
	errs = append(errs, project.permitsDestination(cluster, app.Spec.Destination.Namespace, shown), retries(app.Spec.SyncPolicy))
	return conditions(errs...)
}

// DefaultProject is the one of Applications that name none.
const DefaultProject = "default"

// Uses is an error where an Application may not use its project at all, which is nil where none has the name: neither to write
// nor to delete anything.
func Uses(app *v1alpha1.Application, project *Project, installation string) error {
	if project == nil {
		return fmt.Errorf("Application referencing project %s which does not exist", cmp.Or(app.Spec.Project, DefaultProject))
	}
	if err := project.Readable(); err != nil {
		return err
	}
	return project.PermitsNamespace(app, installation)
}

func conditions(errs ...error) []v1alpha1.ApplicationCondition {
	var all []v1alpha1.ApplicationCondition
	for _, err := range errs {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			all = append(all, conditions(joined.Unwrap()...)...)
			continue
		}
		if err != nil {
			all = append(all, v1alpha1.ApplicationCondition{Type: v1alpha1.ApplicationConditionInvalidSpecError, Message: err.Error()})
		}
	}
	return all
}

// Destination finds the cluster of an Application. There is no cluster for an unknown name, and never another
// one instead.
func Destination(d v1alpha1.ApplicationDestination, s settings.Settings) (settings.Cluster, error) {
	switch {
	case d.Server != "" && d.Name != "":
		return settings.Cluster{}, fmt.Errorf("application destination can't have both name and server defined: %s %s", d.Name, d.Server)
	case d.Server == "" && d.Name == "":
		return settings.Cluster{}, errors.New("Destination server missing from app spec: spec.destination names neither a server nor a cluster")
	}
	cluster, err := s.Destination(d.Server, d.Name)
	switch {
	case err == nil:
		return cluster, nil
	case d.Server != "":
		return cluster, fmt.Errorf("error getting cluster by server %q: %w", d.Server, err)
	case errors.As(err, new(*settings.UnknownClusterError)):
		return cluster, fmt.Errorf("there are no clusters with this name: %s", d.Name)
	}
	return cluster, fmt.Errorf("error getting cluster by name %q: %w", d.Name, err)
}

// sourcesAreThere is an error for the first source that is not whole.
func sourcesAreThere(spec v1alpha1.ApplicationSpec) error {
	if spec.SourceHydrator != nil {
		return hydratorIsThere(spec.SourceHydrator)
	}
	for i, source := range spec.Sources {
		if source.RepoURL == "" || source.Path == "" && source.Chart == "" && source.Ref == "" {
			return fmt.Errorf("spec.source.repoURL and either source.path, source.chart, or source.ref are required for source spec.sources[%d] %s",
				i, redaction.Text(source.RepoURL))
		}
		if err := chartHasVersion(source); err != nil {
			return err
		}
	}
	if len(spec.Sources) > 0 {
		return nil
	}
	if spec.Source == nil || spec.Source.RepoURL == "" || spec.Source.Path == "" && spec.Source.Chart == "" {
		return errors.New("spec.source.repoURL and either spec.source.path or spec.source.chart are required")
	}
	return chartHasVersion(*spec.Source)
}

func chartHasVersion(source v1alpha1.ApplicationSource) error {
	if source.Chart != "" && source.TargetRevision == "" {
		return errors.New("spec.source.targetRevision is required if the manifest source is a helm chart")
	}
	return nil
}

func hydratorIsThere(h *v1alpha1.SourceHydrator) error {
	var errs []error
	if h.DrySource.RepoURL == "" {
		errs = append(errs, errors.New("spec.sourceHydrator.drySource.repoURL is required"))
	}
	if h.SyncSource.TargetBranch == "" {
		errs = append(errs, errors.New("spec.sourceHydrator.syncSource.targetBranch is required"))
	}
	if h.HydrateTo != nil && h.HydrateTo.TargetBranch == "" {
		errs = append(errs, errors.New("when spec.sourceHydrator.hydrateTo is set, spec.sourceHydrator.hydrateTo.targetBranch is required"))
	}
	return errors.Join(errs...)
}

// PermitsReading is an error unless an Application may use its project, and this permits every source that it reads.
func PermitsReading(app *v1alpha1.Application, project *Project, installation string) error {
	if err := Uses(app, project, installation); err != nil {
		return err
	}
	return errors.Join(permittedSources(app.Spec, project)...)
}

// PermitsOperation is an error unless the project permits every source that a requested sync brings along.
func PermitsOperation(sync *v1alpha1.SyncOperation, project *Project) error {
	if sync == nil {
		return nil
	}
	var errs []error
	note := func(field string, source v1alpha1.ApplicationSource) {
		if err := project.PermitsSource(source.RepoURL); err != nil {
			errs = append(errs, fmt.Errorf("operation.sync.%s: %w", field, err))
		}
	}
	if sync.Source != nil {
		note("source", *sync.Source)
	}
	for i, source := range sync.Sources {
		note(fmt.Sprintf("sources[%d]", i), source)
	}
	return errors.Join(errs...)
}

func permittedSources(spec v1alpha1.ApplicationSpec, project *Project) []error {
	if h := spec.SourceHydrator; h != nil {
		errs := []error{project.PermitsSource(h.DrySource.RepoURL)}
		if h.SyncSource.RepoURL != "" && h.SyncSource.RepoURL != h.DrySource.RepoURL {
			errs = append(errs, project.permitsSource(h.SyncSource.RepoURL, "sync source repo"))
		}
		return errs
	}
	if source := SourceOf(spec); source != nil {
		return []error{project.PermitsSource(source.RepoURL)}
	}
	var errs []error
	for _, source := range spec.Sources {
		errs = append(errs, project.PermitsSource(source.RepoURL))
	}
	return errs
}

// retries is an error where the waits between attempts cannot be read. Upstream says so only when a sync fails.
func retries(policy *v1alpha1.SyncPolicy) error {
	_, err := readBackoff(Retry(policy))
	return err
}
