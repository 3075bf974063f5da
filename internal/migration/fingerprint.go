package migration

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/roots"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/installation"
)

// Fingerprint is what the objects are that the units of a cluster hold: by identity, uid and generation, or
// resource version where there is no generation.
type Fingerprint map[string]string

// Fingerprint reads the objects in the inventories of Kustomizations and HelmReleases, or those that Applications
// say they have in this cluster.
func (m *Migration) Fingerprint(ctx context.Context) (Fingerprint, error) {
	client, err := metadata.NewForConfig(m.config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	mapper, err := roots.Mapper(m.config)
	if err != nil {
		return nil, err
	}
	prints := Fingerprint{}
	err = m.units(ctx, func(u unit) error {
		for _, held := range m.held(u) {
			mapping, err := mapper.RESTMapping(held.ID.GroupKind(), held.Version)
			if err != nil {
				prints[held.ID.String()] = missing
				continue
			}
			text, err := printNow(ctx, client.Resource(mapping.Resource).Namespace(held.ID.Namespace), held.ID.Name)
			if err != nil {
				return fmt.Errorf("reading %s: %w", held.ID, err)
			}
			if text != "" {
				prints[held.ID.String()] = text
			}
		}
		return nil
	})
	return prints, err
}

// held are the objects of a unit in this cluster.
func (m *Migration) held(u unit) []engine.Entry {
	if m.of == ArgoCD {
		return resourcesOf(u.Unstructured)
	}
	return sources.HeldBy(u.Unstructured)
}

// missing is the print of an object that is not there.
const missing = "missing"

// printNow is empty for what Headgate itself consists of, which a migration starts and stops.
func printNow(ctx context.Context, client metadata.ResourceInterface, name string) (string, error) {
	o, err := client.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return missing, nil
	}
	if err != nil {
		return "", err
	}
	if o.Labels[dialect.PartOf] == installation.Name {
		return "", nil
	}
	return printOf(o), nil
}

func printOf(o *metav1.PartialObjectMetadata) string {
	if o.Generation > 0 {
		return fmt.Sprintf("%s generation %d", o.UID, o.Generation)
	}
	return fmt.Sprintf("%s version %s", o.UID, o.ResourceVersion)
}

// Changed names the objects that are not what they were.
func (f Fingerprint) Changed(now Fingerprint) []string {
	var changed []string
	for id, was := range f {
		switch is, there := now[id]; {
		case !there:
			changed = append(changed, id+" is no longer in an inventory")
		case is == missing && was != is:
			changed = append(changed, id+" was deleted")
		case is != was && strings.Fields(is)[0] != strings.Fields(was)[0]:
			changed = append(changed, id+" was recreated")
		case is != was:
			changed = append(changed, id+" was changed")
		}
	}
	slices.Sort(changed)
	return changed
}
