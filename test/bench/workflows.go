package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/kit"
)

// workflows measures many Workflows of a graph of 20 tasks that need no pods: how long until all succeeded, what one costs, and
// what is asked of the API server until then and at rest.
type workflows struct {
	count int
	idle  time.Duration
}

var (
	workflowKind = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "workflows"}
	roleKind     = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"}
	bindingKind  = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"}
)

func (b workflows) measure(ctx context.Context) error {
	return measured(ctx, kit.Options{}, b.run)
}

func (b workflows) run(ctx context.Context, _ *kit.Kit, client dynamic.Interface, audit string) error {
	if err := b.permit(ctx, client); err != nil {
		return err
	}
	text := graphOf20()
	cpu, began := cpuTime(), time.Now()
	for i := range b.count {
		if err := create(ctx, client, workflowKind, "default", fmt.Sprintf(text, i)); err != nil {
			return err
		}
	}
	succeeded := func(u *unstructured.Unstructured) (bool, error) {
		phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
		if phase == "Failed" || phase == "Error" {
			nodes, _, err := unstructured.NestedMap(u.Object, "status", "nodes")
			return false, errors.Join(fmt.Errorf("workflow %s: %s: %v", u.GetName(), phase, nodes), err)
		}
		return phase == "Succeeded", nil
	}
	if err := allOf(ctx, client.Resource(workflowKind), b.count, succeeded); err != nil {
		return err
	}
	return costs{b.count, began, cpu, b.idle, audit}.print(ctx)
}

// permit lets the account of the Workflows create what they create.
func (b workflows) permit(ctx context.Context, client dynamic.Interface) error {
	err := create(ctx, client, roleKind, "default", `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: workflows}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, create]}]
`)
	if err != nil {
		return err
	}
	return create(ctx, client, bindingKind, "default", `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: workflows}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: workflows}
subjects: [{kind: ServiceAccount, name: default, namespace: default}]
`)
}

// graphOf20 is a Workflow of 20 tasks, four abreast: objects are created, suspensions last no time, and expressions are evaluated
// in what tasks are given and in whether they are executed. It lacks its number.
func graphOf20() string {
	var text strings.Builder
	text.WriteString(`apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: w%04d}
spec:
  entrypoint: main
  templates:
  - name: pause
    inputs: {parameters: [{name: row}]}
    suspend: {duration: "0"}
  - name: create
    inputs: {parameters: [{name: name}]}
    resource:
      action: create
      manifest: |
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: "{{workflow.name}}-{{inputs.parameters.name}}"}
  - name: main
    dag:
      tasks:
`)
	for row := range 5 {
		for column := range 4 {
			fmt.Fprintf(&text, "      - name: t%d%d\n", row, column)
			if row > 0 {
				fmt.Fprintf(&text, "        depends: t%d%d && (t%d%d.Succeeded || t%d%d.Skipped)\n", row-1, column, row-1, (column+1)%4, row-1, (column+1)%4)
			}
			switch column {
			case 0, 1:
				fmt.Fprintf(&text, "        template: create\n        arguments: {parameters: [{name: name, value: '{{=sprig.lower(\"T%d%d\")}}'}]}\n", row, column)
			case 2:
				fmt.Fprintf(&text, "        template: pause\n        arguments: {parameters: [{name: row, value: '{{=asInt(\"%d\") + 1}}'}]}\n", row)
			default:
				text.WriteString("        template: pause\n        when: \"{{=workflow.name != ''}}\"\n        arguments: {parameters: [{name: row, value: none}]}\n")
			}
		}
	}
	return text.String()
}

// measured measures something with a system of its own and a client whose requests are not those of the engine.
func measured(ctx context.Context, options kit.Options, run func(ctx context.Context, k *kit.Kit, client dynamic.Interface, audit string) error) error {
	dir, err := os.MkdirTemp("", "hgb-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	audit := filepath.Join(dir, "audit.log")
	options.AuditLog = audit
	k, err := kit.Start(ctx, filepath.Join(dir, "kit"), options)
	if err != nil {
		return err
	}
	defer func() { _ = k.Stop(ctx) }()
	config := rest.CopyConfig(k.Config)
	config.UserAgent = "bench"
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	return run(ctx, k, client, audit)
}

// create creates the object that a text is.
func create(ctx context.Context, client dynamic.Interface, kind schema.GroupVersionResource, namespace, text string) error {
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		return err
	}
	_, err := client.Resource(kind).Namespace(namespace).Create(ctx, u, metav1.CreateOptions{})
	return err
}

// allOf waits until so many objects are as they should be, or the first is what it cannot come back from.
func allOf(ctx context.Context, objects dynamic.ResourceInterface, count int, are func(*unstructured.Unstructured) (bool, error)) error {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	stuck := time.Now().Add(patience)
	for {
		list, err := objects.List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return err
		}
		n := 0
		for i := range list.Items {
			is, err := are(&list.Items[i])
			if err != nil {
				return err
			}
			if is {
				n++
			}
		}
		if n == count {
			return nil
		}
		if time.Now().After(stuck) {
			return fmt.Errorf("%d of %d objects have come to their end after %s", n, count, patience)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// costs are what some objects have cost since a time, and what they cost at rest.
type costs struct {
	count int
	began time.Time
	cpu   time.Duration
	idle  time.Duration
	audit string
}

// print prints them, with the requests in a line of their own.
func (c costs) print(ctx context.Context) error {
	took, spent := time.Since(c.began), cpuTime()-c.cpu
	asked, watches, err := requests(c.audit, c.began)
	if err != nil {
		return err
	}
	memory, rest := rss(), "not counted"
	if c.idle > 0 {
		if rest, err = (&run{idle: c.idle}).atRest(ctx, c.audit); err != nil {
			return err
		}
	}
	fmt.Printf("%9d  %6.2f  %9.3f  %6d  %s\n", c.count, took.Seconds(), spent.Seconds()/float64(c.count), memory, rest)
	fmt.Printf("requests until then, beside %d watches: %s\n", watches, most(asked))
	return nil
}
