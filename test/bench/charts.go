package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/argocd"
	"github.com/headgate-dev/headgate/chart/packages"
)

// charts measures descriptions: how long it takes to describe and write applications, with the compiler left out, and chained charts; and how long
// an edit takes until it is written. Where cdk8s is installed, the same work is measured there.
type charts struct {
	// modules is a directory with node_modules/cdk8s; empty leaves it out.
	modules string
}

// nodePatience bounds one run of cdk8s.
const nodePatience = 2 * time.Minute

func (b charts) measure(ctx context.Context) error {
	for _, work := range [][]int{{32}, {1000}, {4, 20}, {5, 20}, {6, 20}, {7, 20}, {10, 100}} {
		memory, err := median(5, func() (time.Duration, error) { return described(work, false) })
		if err != nil {
			return err
		}
		ours, err := median(5, func() (time.Duration, error) { return described(work, true) })
		if err != nil {
			return err
		}
		theirs, err := b.cdk8s(ctx, work)
		if err != nil {
			return err
		}
		fmt.Printf("%-38s %9.4f %9.4f  %s\n", nameOf(work), memory.Seconds(), ours.Seconds(), theirs)
	}
	return edits(ctx)
}

func nameOf(work []int) string {
	if len(work) == 1 {
		return fmt.Sprintf("%d applications, 4 objects each", work[0])
	}
	return fmt.Sprintf("%d chained charts of %d objects", work[0], work[1])
}

// median of several runs.
func median(runs int, do func() (time.Duration, error)) (time.Duration, error) {
	var all []time.Duration
	for range runs {
		took, err := do()
		if err != nil {
			return 0, err
		}
		all = append(all, took)
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}

// described describes and synthesizes one work, and writes it to a new directory if that is wanted too.
func described(work []int, written bool) (time.Duration, error) {
	dir, err := os.MkdirTemp("", "hgb-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	began := time.Now()
	var files []chart.File
	if len(work) == 1 {
		result, err := packages.Synth(applications(work[0]), packages.Settings{})
		if err != nil {
			return 0, err
		}
		files = result.Files
	} else {
		result, err := chain(work[0], work[1]).Synth()
		if err != nil {
			return 0, err
		}
		if files, err = result.Files(nil); err != nil {
			return 0, err
		}
	}
	if written {
		_, err = chart.Output{Dir: filepath.Join(dir, "dist")}.Write(files)
	}
	return time.Since(began), err
}

// applications are as many packages, as cdk8s/bench.js has them.
func applications(count int) []packages.Package {
	var all []packages.Package
	for i := range count {
		name := fmt.Sprintf("app-%d", i)
		manifests, application := chart.NewApp(chart.Settings{Names: chart.CDK8sNames}), chart.NewApp(chart.Settings{Names: chart.CDK8sNames})
		server(chart.New(manifests, "install", chart.Props{Namespace: name}), name)
		argocd.Application(chart.New(application, "app", chart.Props{}), "application", argocd.ApplicationProps{
			Name: name, Namespace: "argocd", Sources: []v1alpha1.ApplicationSource{packages.Source(name)}, SyncPolicy: argocd.Automated(argocd.CreateNamespace),
		})
		all = append(all, packages.Package{Name: name, Manifests: manifests, Application: application})
	}
	return all
}

func server(c *chart.Chart, name string) {
	labels, meta := map[string]string{"app": name}, metav1.ObjectMeta{Name: name}
	chart.Add(c, "account", &corev1.ServiceAccount{ObjectMeta: meta})
	chart.Add(c, "config", &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"LOG_LEVEL": "info", "HOST": name + ".example.dev"}})
	replicas := int32(2)
	chart.Add(c, "server", &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{ServiceAccountName: name, Containers: []corev1.Container{{
					Name: "server", Image: "registry.example.dev/" + name + ":1.0", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
					EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}},
					Resources: corev1.ResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi")},
						Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
					},
					ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromString("http")}}},
				}}},
			},
		},
	})
	chart.Add(c, "service", &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
		Selector: labels, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromString("http")}},
	}})
}

// chain is an App of charts of which each depends on the one before.
func chain(count, objects int) *chart.App {
	app := chart.NewApp(chart.Settings{Names: chart.CDK8sNames})
	var previous *chart.Chart
	for i := range count {
		c := chart.New(app, fmt.Sprintf("chart-%d", i), chart.Props{})
		for j := range objects {
			chart.Add(c, fmt.Sprintf("config-%d", j), &corev1.ConfigMap{Data: map[string]string{"key": fmt.Sprintf("%d-%d", i, j)}})
		}
		if previous != nil {
			c.Node().DependsOn(previous)
		}
		previous = c
	}
	return app
}

// cdk8s is how long the same work takes there, in its process, as text.
func (b charts) cdk8s(ctx context.Context, work []int) (string, error) {
	if b.modules == "" {
		return "", nil
	}
	script, err := os.ReadFile("test/bench/cdk8s/bench.js")
	if err != nil {
		return "", fmt.Errorf("run this from the root of the repository: %w", err)
	}
	at := filepath.Join(b.modules, "bench.js")
	if err := os.WriteFile(at, script, 0o600); err != nil {
		return "", err
	}
	args := []string{at, "apps"}
	if len(work) > 1 {
		args[1] = "chain"
	}
	for _, n := range work {
		args = append(args, strconv.Itoa(n))
	}
	limited, cancel := context.WithTimeout(ctx, nodePatience)
	defer cancel()
	out, err := exec.CommandContext(limited, "node", args...).Output()
	if limited.Err() != nil && ctx.Err() == nil {
		return fmt.Sprintf("> %.0f", nodePatience.Seconds()), nil
	}
	if err != nil {
		return "", fmt.Errorf("running node, with cdk8s in %q: %w", b.modules, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// edits measures how long a saved file of a new module takes until it is written by "headgate synth --watch".
func edits(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := watched(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(w.dir) }()
	replicas := 10
	took, err := median(5, func() (time.Duration, error) {
		replicas++
		began := time.Now()
		if err := w.edit(replicas); err != nil {
			return 0, err
		}
		err := w.wait(ctx, fmt.Sprintf("replicas: %d\n", replicas))
		return time.Since(began), err
	})
	if err != nil {
		return err
	}
	fmt.Printf("%-38s %9s %9.4f\n", "edit to file, with --watch", "", took.Seconds())
	cancel()
	return <-w.ended
}
