package installation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/argo"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/host"
)

// Finding is one result of a check.
type Finding struct {
	Subject, Text string
	// Bad is set when something has to be done, and Next is what.
	Bad  bool
	Next string
}

// oldest is the oldest version of Kubernetes that is supported: it has the field managers, the CEL rules of
// definitions and the streams of lists that are counted on.
const oldest = "1.31.0"

// checker checks one cluster.
type checker struct {
	config  *rest.Config
	client  kubernetes.Interface
	dynamic dynamic.Interface
	objects []*unstructured.Unstructured
	serve   dialect.Groups
	found   []Finding

	applications tally
}

// Check inspects a cluster: its version, the definitions, the controller that serves them, its permissions, and what is
// unhealthy. An error is returned only when the cluster cannot be asked.
func Check(ctx context.Context, config *rest.Config, o Options) ([]Finding, error) {
	c := &checker{config: config, serve: o.Serve}
	var err error
	if c.objects, err = Objects(ctx, o); err != nil {
		return nil, err
	}
	if c.client, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	if c.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	looks := []func(context.Context) error{c.version, c.definitions, c.masters, c.controllers, c.permissions, c.health}
	if o.Embedded {
		looks = []func(context.Context) error{c.version, c.health}
	}
	for _, look := range looks {
		if err := look(ctx); err != nil {
			return c.found, err
		}
	}
	return c.found, nil
}

func (c *checker) good(subject, text string) {
	c.found = append(c.found, Finding{Subject: subject, Text: text})
}

func (c *checker) bad(subject, text, next string) {
	c.found = append(c.found, Finding{Subject: subject, Text: text, Bad: true, Next: next})
}

func (c *checker) version(context.Context) error {
	info, err := c.client.Discovery().ServerVersion()
	if err != nil {
		return fmt.Errorf("getting the version of the cluster: %w", err)
	}
	v, err := semver.NewVersion(info.GitVersion)
	if err == nil && v.LessThan(semver.MustParse(oldest)) {
		c.bad("kubernetes", fmt.Sprintf("%s is older than %s", info.GitVersion, oldest), "upgrade the cluster")
		return nil
	}
	c.good("kubernetes", info.GitVersion+" at "+c.config.Host)
	return nil
}

func (c *checker) definitions(ctx context.Context) error {
	resource := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	n := 0
	for _, o := range c.objects {
		if o.GetKind() != "CustomResourceDefinition" {
			continue
		}
		n++
		live, err := c.dynamic.Resource(resource).Get(ctx, o.GetName(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			c.bad("definitions", o.GetName()+" is missing", "headgate install")
		case err != nil:
			return fmt.Errorf("reading the definition %s: %w", o.GetName(), err)
		default:
			if lacks := versionsLacking(o, live); lacks != "" {
				c.bad("definitions", o.GetName()+" does not serve "+lacks, "headgate install")
			}
		}
	}
	if !slices.ContainsFunc(c.found, func(f Finding) bool { return f.Subject == "definitions" }) {
		c.good("definitions", fmt.Sprintf("%d of %s", n, strings.Join(c.serve.Names(), ", ")))
	}
	return nil
}

// versionsLacking names the version of a definition that the cluster's does not serve.
func versionsLacking(want, live *unstructured.Unstructured) string {
	served := func(o *unstructured.Unstructured) map[string]bool {
		versions, _, _ := unstructured.NestedSlice(o.Object, "spec", "versions")
		out := map[string]bool{}
		for _, v := range versions {
			if v, ok := v.(map[string]any); ok {
				name, _ := v["name"].(string)
				out[name], _ = v["served"].(bool)
			}
		}
		return out
	}
	has := served(live)
	for name, wanted := range served(want) {
		if wanted && !has[name] {
			return name
		}
	}
	return ""
}

func (c *checker) masters(ctx context.Context) error {
	err := host.RefuseUpstream(ctx, c.config, c.serve)
	var known *host.UpstreamError
	switch {
	case errors.As(err, &known):
		next := "headgate install --help"
		if len(known.Migrates) > 0 {
			next = "headgate migrate " + known.Migrates[0]
		}
		c.bad("conflicts", err.Error(), next)
	case err != nil:
		c.bad("conflicts", err.Error(), "headgate install")
	}
	return nil
}

func (c *checker) controllers(ctx context.Context) error {
	list, err := c.client.AppsV1().Deployments(toolkit.Namespace).List(ctx, metav1.ListOptions{LabelSelector: dialect.PartOf + "=headgate"})
	if err != nil {
		return fmt.Errorf("reading the controller: %w", err)
	}
	for i := range list.Items {
		d := &list.Items[i]
		if why := Unready(d); why != "" {
			c.bad("controller", why, fmt.Sprintf("kubectl -n %s logs deployment/%s", d.Namespace, d.Name))
			continue
		}
		c.good("controller", fmt.Sprintf("%s/%s, %s, %s", d.Namespace, d.Name, imageOf(d), strings.Join(serveOf(d), " ")))
	}
	if len(list.Items) == 0 {
		return c.holder(ctx, "", "no controller is installed in this cluster", "headgate install")
	}
	for i := range list.Items {
		d := &list.Items[i]
		next := fmt.Sprintf("kubectl -n %s logs deployment/%s", d.Namespace, d.Name)
		if err := c.holder(ctx, shardOf(d), d.Name+": no replica holds the lease", next); err != nil {
			return err
		}
	}
	return nil
}

// holder names the holder of the lease of a shard; no one and next are the finding if there is none.
func (c *checker) holder(ctx context.Context, shard, nobody, next string) error {
	holder, err := host.Holder(ctx, c.client, shard, time.Now())
	switch {
	case err != nil:
		return err
	case holder == "":
		c.bad("served by", nobody, next)
	case shard != "":
		c.good("served by", holder+" for "+shard)
	default:
		c.good("served by", holder)
	}
	return nil
}

func imageOf(d *appsv1.Deployment) string {
	if len(d.Spec.Template.Spec.Containers) == 0 {
		return "no container"
	}
	return d.Spec.Template.Spec.Containers[0].Image
}

// Flags that say what a Deployment serves.
const (
	serveFlag = "--serve="
	shardFlag = "--watch-label-selector="
)

// serveOf are the flags that say what a Deployment serves.
func serveOf(d *appsv1.Deployment) []string {
	var flags []string
	for _, container := range d.Spec.Template.Spec.Containers {
		for _, arg := range container.Args {
			if strings.HasPrefix(arg, serveFlag) || strings.HasPrefix(arg, shardFlag) {
				flags = append(flags, arg)
			}
		}
	}
	return flags
}

// ServedBy are the API groups that a Deployment of Headgate serves, as its flag names them.
func ServedBy(d *appsv1.Deployment) []string {
	for _, flag := range serveOf(d) {
		if groups, is := strings.CutPrefix(flag, serveFlag); is {
			return strings.Split(groups, ",")
		}
	}
	return nil
}

// Served are the API groups that the Deployment of an installation serves; there are none where nothing is installed.
func Served(ctx context.Context, config *rest.Config) ([]string, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	d, err := client.AppsV1().Deployments(toolkit.Namespace).Get(ctx, Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the controller: %w", err)
	}
	return ServedBy(d), nil
}

// shardOf is the label selector of what a Deployment serves, empty when that is everything.
func shardOf(d *appsv1.Deployment) string {
	for _, flag := range serveOf(d) {
		if shard, is := strings.CutPrefix(flag, shardFlag); is {
			return shard
		}
	}
	return ""
}

func (c *checker) permissions(ctx context.Context) error {
	_, err := c.client.CoreV1().ServiceAccounts(toolkit.Namespace).Get(ctx, Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		// The controller serves as another account.
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the ServiceAccount of the controller: %w", err)
	}
	all, err := Permissions(c.objects)
	if err != nil {
		return err
	}
	missing, err := Missing(ctx, c.client, Account(), all)
	if err != nil {
		return err
	}
	for _, p := range missing {
		c.bad("permissions", "the controller may not "+p.String(), "headgate install")
	}
	if len(missing) == 0 {
		c.good("permissions", strconv.Itoa(len(all))+" of "+strconv.Itoa(len(all)))
	}
	return nil
}

// health names what is not ready of what is served.
func (c *checker) health(ctx context.Context) error {
	ready, suspended := 0, 0
	for _, o := range c.objects {
		if o.GetKind() != "CustomResourceDefinition" {
			continue
		}
		resource := resourceDefined(o)
		list, err := c.dynamic.Resource(resource).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("listing %s: %w", resource.Resource, err)
		}
		for i := range list.Items {
			u := &list.Items[i]
			if sources.Suspended(u) {
				suspended++
				continue
			}
			c.applications.count(u)
			why := Trouble(u)
			if why == "" {
				ready++
				continue
			}
			c.bad("unhealthy", fmt.Sprintf("%s %s/%s: %s", u.GetKind(), u.GetNamespace(), u.GetName(), why), whyOf(u))
		}
	}
	if text := c.applications.String(); text != "" {
		c.good("applications", text)
	}
	c.good("healthy", fmt.Sprintf("%d objects, %d suspended", ready, suspended))
	return nil
}

// resourceDefined is the resource of the newest version that a definition serves.
func resourceDefined(crd *unstructured.Unstructured) schema.GroupVersionResource {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	r := schema.GroupVersionResource{Group: group, Resource: plural}
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		if v, ok := v.(map[string]any); ok && v["storage"] == true {
			r.Version, _ = v["name"].(string)
		}
	}
	return r
}

// whyOf is the command that tells more of an object.
func whyOf(u *unstructured.Unstructured) string {
	kind := strings.ToLower(u.GetKind())
	if is(u, application) {
		kind = "app"
	}
	return fmt.Sprintf("headgate why %s/%s -n %s", kind, u.GetName(), u.GetNamespace())
}

// Trouble is what an object says of itself that is not ready; it is empty for one that is, and for one of a
// kind that says nothing about itself.
func Trouble(u *unstructured.Unstructured) string {
	if u.GroupVersionKind().Group == argo.Group {
		return argoTrouble(u)
	}
	for _, c := range conditionsOf(u) {
		if c["type"] == "Ready" && c["status"] != "True" {
			return fmt.Sprintf("%v: %v", c["reason"], c["message"])
		}
	}
	return ""
}
