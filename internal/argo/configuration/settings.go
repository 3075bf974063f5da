// Package configuration keeps what an installation of Argo CD is configured by, as the cluster has it: its settings, from
// ConfigMaps and Secrets or from what an Application declares of them, and its projects.
//
// What they mean is decided in internal/argo/settings and internal/argo/policy, which are pure; this room watches, holds the
// latest, and reports changes. It refuses to write, and to do what follows from a change.
package configuration

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// secretType is the label of Secrets that hold settings.
const secretType = "argocd.argoproj.io/secret-type"

var (
	configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")
	secrets    = corev1.SchemeGroupVersion.WithResource("secrets")
)

// Settings keeps the settings of the installation, from its ConfigMaps and Secrets. What an Application declares
// of it holds until that is there. It is safe for concurrent use.
type Settings struct {
	namespace string

	mu      sync.RWMutex
	maps    map[string]corev1.ConfigMap
	secrets map[string]corev1.Secret
	// charted is what Applications declare of it, by the Application.
	charted map[engine.UnitID]settings.Objects
	// current are the settings that hold, live those that are there, without what is only declared.
	current, live settings.Settings
	problem       error
	// listed is set once what there was at the start is known.
	listed bool
	// changes are found by the namespace of the installation.
	changes *rounds.Loop[string]
}

// NewSettings returns the settings of an installation, by its namespace: the defaults until they are read.
func NewSettings(namespace string) *Settings {
	return &Settings{
		namespace: namespace, charted: map[engine.UnitID]settings.Objects{}, maps: map[string]corev1.ConfigMap{}, secrets: map[string]corev1.Secret{},
		current: settings.Defaults(), live: settings.Defaults(),
	}
}

// Now are the settings as they were read last.
func (k *Settings) Now() settings.Settings {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.current
}

// Live are the settings that are there: what Applications only declare is not among them, so that it does not decide on
// itself.
func (k *Settings) Live() settings.Settings {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.live
}

// Tracking is how objects are marked by now.
func (k *Settings) Tracking() settings.Tracking { return k.Now().Tracking }

// Watch reads the settings, and keeps them current. What follows from a change is done from then on, by changes.
func (k *Settings) Watch(ctx, wait context.Context, home *cluster.Cluster, changes rounds.Work[string]) error {
	k.changes = rounds.New(changes, rounds.Options{Guard: home.Guard()})
	k.changes.Start(ctx)
	var all errgroup.Group
	names := []string{settings.ConfigName, settings.ParamsName, settings.KnownHostsName, settings.CertificatesName, settings.KeysName}
	for _, name := range names {
		all.Go(func() error {
			return cluster.Within(wait, awaited, func() error {
				return home.WatchOne(ctx, configMaps, k.namespace, name, k.sink(k.putMap, func(u *unstructured.Unstructured) { delete(k.maps, u.GetName()) }))
			})
		})
	}
	all.Go(func() error {
		return cluster.Within(wait, awaited, func() error { return home.Watch(ctx, secrets, secretType, k.secretSink()) })
	})
	all.Go(func() error {
		return cluster.Within(wait, awaited, func() error {
			return home.WatchOne(ctx, secrets, k.namespace, settings.SecretName, k.secretSink())
		})
	})
	if err := all.Wait(); err != nil {
		return fmt.Errorf("reading the settings in namespace %s: %w", k.namespace, err)
	}
	k.mu.Lock()
	k.listed = true
	k.mu.Unlock()
	return nil
}

// Wait waits until what follows from changes is done, once the context of Watch has ended.
func (k *Settings) Wait() { k.changes.Wait() }

func (k *Settings) secretSink() cluster.Sink {
	return k.sink(k.putSecret, func(u *unstructured.Unstructured) { delete(k.secrets, u.GetName()) })
}

// sink takes objects of the namespace.
func (k *Settings) sink(put func(*unstructured.Unstructured) error, drop func(*unstructured.Unstructured)) cluster.Sink {
	handle := func(do func(*unstructured.Unstructured)) func(*unstructured.Unstructured) {
		return func(u *unstructured.Unstructured) {
			if u.GetNamespace() != k.namespace {
				return
			}
			k.mu.Lock()
			defer k.mu.Unlock()
			do(u)
			k.later()
		}
	}
	return cluster.Sink{Put: handle(func(u *unstructured.Unstructured) {
		if err := put(u); err != nil {
			k.problem = err
		}
	}), Dropped: handle(drop)}
}

// awaited is what the start waits for.
const awaited = "the objects of Argo CD"

// settle is how long changes are gathered: several objects change at once.
const settle = 20 * time.Millisecond

// later reports a change soon. The caller holds the lock.
func (k *Settings) later() {
	if k.listed {
		k.changes.WakeAt(k.namespace, time.Now().Add(settle))
	}
}

func (k *Settings) putMap(u *unstructured.Unstructured) error {
	var m corev1.ConfigMap
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &m); err != nil {
		return fmt.Errorf("reading ConfigMap %s: %w", u.GetName(), err)
	}
	k.maps[m.Name] = m
	return nil
}

func (k *Settings) putSecret(u *unstructured.Unstructured) error {
	var s corev1.Secret
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &s); err != nil {
		// The error may quote what is in it.
		return fmt.Errorf("reading Secret %s: cannot be decoded", u.GetName())
	}
	k.secrets[s.Name] = s
	return nil
}

// Chart takes what an Application declares and may write, and reports whether that is news.
func (k *Settings) Chart(id engine.UnitID, objects settings.Objects) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.chart(id, objects)
}

// Recheck is Chart where nothing was rendered: changes say what is new.
func (k *Settings) Recheck(id engine.UnitID, objects settings.Objects) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.chart(id, objects) {
		k.later()
	}
}

// chart takes what an Application declares. The caller holds the lock.
func (k *Settings) chart(id engine.UnitID, objects settings.Objects) bool {
	before := k.charted[id]
	if len(objects.ConfigMaps) == 0 {
		delete(k.charted, id)
	} else {
		k.charted[id] = objects
	}
	return !reflect.DeepEqual(before, k.charted[id])
}

// inflating are the options of builds where no argocd-cm says any: upstream has charts of kustomizations switched on by
// the very ConfigMap that such a chart installs, and here no program is run for them.
const inflating = "--enable-helm"

// Read reads the settings again and returns them, with their problems and the data of argocd-cm.
func (k *Settings) Read() (settings.Settings, map[string]string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var err error
	k.live, err = read(k.maps, k.secrets, nil)
	if len(k.charted) == 0 {
		k.current = k.live
		return k.current, k.maps[settings.ConfigName].Data, err
	}
	all, unserved := maps.Clone(k.maps), []settings.Unserved(nil)
	byName := func(a, b engine.UnitID) int { return strings.Compare(a.String(), b.String()) }
	for _, id := range slices.SortedFunc(maps.Keys(k.charted), byName) {
		unserved = append(unserved, k.charted[id].Unserved...)
		for _, m := range k.charted[id].ConfigMaps {
			if _, there := all[m.Name]; !there {
				all[m.Name] = m
			}
		}
	}
	k.current, err = read(all, k.secrets, unserved)
	return k.current, all[settings.ConfigName].Data, err
}

// read reads settings from objects.
func read(configMaps map[string]corev1.ConfigMap, secrets map[string]corev1.Secret, unserved []settings.Unserved) (settings.Settings, error) {
	objects := settings.Objects{Unserved: unserved}
	for _, name := range slices.Sorted(maps.Keys(configMaps)) {
		objects.ConfigMaps = append(objects.ConfigMaps, configMaps[name])
	}
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		objects.Secrets = append(objects.Secrets, secrets[name])
	}
	s, err := settings.Read(objects)
	if _, there := configMaps[settings.ConfigName]; !there {
		s.Kustomize.BuildOptions = inflating
	}
	return s, err
}
