package argo

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
	"github.com/headgate-dev/headgate/internal/health/argocd"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// secretType is the label of Secrets that hold settings.
const secretType = "argocd.argoproj.io/secret-type"

var (
	configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")
	secrets    = corev1.SchemeGroupVersion.WithResource("secrets")
)

// settingsKeeper keeps the settings of the installation, from its ConfigMaps and Secrets. What an Application declares
// of it holds until that is there. It is safe for concurrent use.
type settingsKeeper struct {
	namespace string

	mu      sync.RWMutex
	maps    map[string]corev1.ConfigMap
	secrets map[string]corev1.Secret
	// charted is what Applications declare of it, by the Application.
	charted map[engine.UnitID]settings.Objects
	current settings.Settings
	problem error
	// listed is set once what there was at the start is known.
	listed bool
	// changes are told of by the namespace of the installation.
	changes *rounds.Loop[string]
}

func newSettingsKeeper(namespace string) *settingsKeeper {
	return &settingsKeeper{
		namespace: namespace, charted: map[engine.UnitID]settings.Objects{}, maps: map[string]corev1.ConfigMap{}, secrets: map[string]corev1.Secret{}, current: settings.Defaults(),
	}
}

func (k *settingsKeeper) now() settings.Settings {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.current
}

// Tracking is how objects are marked by now.
func (k *settingsKeeper) Tracking() settings.Tracking { return k.now().Tracking }

// watch reads the settings, and keeps them current. What follows from a change is done from then on, by changes.
func (k *settingsKeeper) watch(ctx, wait context.Context, home *cluster.Cluster, changes rounds.Work[string]) error {
	k.changes = rounds.New(changes, rounds.Options{})
	k.changes.Start(ctx)
	var all errgroup.Group
	names := []string{settings.ConfigName, settings.ParamsName, settings.KnownHostsName, settings.CertificatesName, settings.KeysName}
	for _, name := range names {
		all.Go(func() error {
			return cluster.Within(wait, watched, func() error {
				return home.WatchOne(ctx, configMaps, k.namespace, name, k.sink(k.putMap, func(u *unstructured.Unstructured) { delete(k.maps, u.GetName()) }))
			})
		})
	}
	all.Go(func() error {
		return cluster.Within(wait, watched, func() error { return home.Watch(ctx, secrets, secretType, k.secretSink()) })
	})
	all.Go(func() error {
		return cluster.Within(wait, watched, func() error {
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

func (k *settingsKeeper) secretSink() cluster.Sink {
	return k.sink(k.putSecret, func(u *unstructured.Unstructured) { delete(k.secrets, u.GetName()) })
}

// sink takes objects of the namespace.
func (k *settingsKeeper) sink(put func(*unstructured.Unstructured) error, drop func(*unstructured.Unstructured)) cluster.Sink {
	handle := func(do func(*unstructured.Unstructured)) func(*unstructured.Unstructured) {
		return func(u *unstructured.Unstructured) {
			if u.GetNamespace() != k.namespace {
				return
			}
			k.mu.Lock()
			do(u)
			k.later()
			k.mu.Unlock()
		}
	}
	return cluster.Sink{Put: handle(func(u *unstructured.Unstructured) {
		if err := put(u); err != nil {
			k.problem = err
		}
	}), Dropped: handle(drop)}
}

// settle is how long changes are gathered: several objects change at once.
const settle = 20 * time.Millisecond

// later tells of a change soon. The caller holds the lock.
func (k *settingsKeeper) later() {
	if k.listed {
		k.changes.WakeAt(k.namespace, time.Now().Add(settle))
	}
}

func (k *settingsKeeper) putMap(u *unstructured.Unstructured) error {
	var m corev1.ConfigMap
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &m); err != nil {
		return fmt.Errorf("reading ConfigMap %s: %w", u.GetName(), err)
	}
	k.maps[m.Name] = m
	return nil
}

func (k *settingsKeeper) putSecret(u *unstructured.Unstructured) error {
	var s corev1.Secret
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &s); err != nil {
		// The error may quote what is in it.
		return fmt.Errorf("reading Secret %s: cannot be decoded", u.GetName())
	}
	k.secrets[s.Name] = s
	return nil
}

// chart takes what an Application declares, and tells whether that is news.
func (k *settingsKeeper) chart(id engine.UnitID, objects settings.Objects) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.charted[id]
	if len(objects.ConfigMaps)+len(objects.Secrets) == 0 {
		delete(k.charted, id)
	} else {
		k.charted[id] = objects
	}
	return !reflect.DeepEqual(before, objects)
}

// inflating are the options of builds where no argocd-cm says any: upstream has charts of kustomizations switched on by
// the very ConfigMap that such a chart installs, and here no program is run for them.
const inflating = "--enable-helm"

// read reads the settings again and returns them, with their problems and the data of argocd-cm.
func (k *settingsKeeper) read() (settings.Settings, map[string]string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var objects settings.Objects
	maps_, secrets_ := maps.Clone(k.maps), maps.Clone(k.secrets)
	byName := func(a, b engine.UnitID) int { return strings.Compare(a.String(), b.String()) }
	for _, id := range slices.SortedFunc(maps.Keys(k.charted), byName) {
		charted := k.charted[id]
		objects.Unserved = append(objects.Unserved, charted.Unserved...)
		for _, m := range charted.ConfigMaps {
			if _, there := maps_[m.Name]; !there {
				maps_[m.Name] = m
			}
		}
		for _, s := range charted.Secrets {
			if _, there := secrets_[s.Name]; !there {
				secrets_[s.Name] = s
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(maps_)) {
		objects.ConfigMaps = append(objects.ConfigMaps, maps_[name])
	}
	for _, name := range slices.Sorted(maps.Keys(secrets_)) {
		objects.Secrets = append(objects.Secrets, secrets_[name])
	}
	var err error
	k.current, err = settings.Read(objects)
	if _, there := maps_[settings.ConfigName]; !there {
		k.current.Kustomize.BuildOptions = inflating
	}
	return k.current, maps_[settings.ConfigName].Data, err
}

// settingsChanges do what follows from other settings.
type settingsChanges struct{ e *Engine }

// Share is the installation.
func (settingsChanges) Share(namespace string) string { return namespace }

// Pass evaluates everything again by the current settings.
func (c settingsChanges) Pass(context.Context, string) rounds.Next {
	c.e.settingsChanged()
	return rounds.Rest()
}

// settingsChanged evaluates everything again by the current settings.
func (e *Engine) settingsChanged() {
	before := e.settings.now()
	now, config, err := e.settings.read()
	if err != nil {
		e.observe("settings", err.Error())
	}
	e.tellUnserved(before, now)
	checks, err := argocd.ParseSettings(config)
	if err != nil {
		e.observe("settings", err.Error())
	} else if !sameHealth(before, now) || before.Tracking != now.Tracking {
		e.judge.Use(checks)
		e.runner.Renew(owner)
	}
	e.projects.reread(now)
	e.reserve()
	if !reflect.DeepEqual(before.Credentials, now.Credentials) {
		e.feeds.Retry()
	}
	e.apps.each(func(a *app) { e.declare(a) })
	e.apps.each(func(a *app) { e.runner.InputsChanged(a.id) })
	e.sets.WakeAll()
}

// sameHealth tells whether the checks of two settings are the same.
func sameHealth(a, b settings.Settings) bool {
	health := func(s settings.Settings) map[string]settings.Customization {
		out := map[string]settings.Customization{}
		for kind, c := range s.Customizations {
			if c.Health != "" {
				out[kind] = settings.Customization{Health: c.Health, OpenLibs: c.OpenLibs}
			}
		}
		return out
	}
	return maps.EqualFunc(health(a), health(b), func(x, y settings.Customization) bool {
		return x.Health == y.Health && x.OpenLibs == y.OpenLibs
	})
}

// tellUnserved names the settings that are for the engine and are ignored, and the unknown ones.
func (e *Engine) tellUnserved(before, now settings.Settings) {
	words := func(s settings.Settings) []string {
		var all []string
		for _, u := range s.Unserved {
			if u.Concern == settings.ConcernEngine {
				all = append(all, u.Object+": "+u.Key)
			}
		}
		for _, u := range s.Unknown {
			all = append(all, u.Object+": "+u.Key+" (unknown)")
		}
		return all
	}
	old := words(before)
	news := slices.DeleteFunc(words(now), func(word string) bool { return slices.Contains(old, word) })
	if len(news) > 0 {
		e.observe("settings", "ignored: "+strings.Join(news, "; "))
	}
}
