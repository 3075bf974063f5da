package inspect

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/progress"
)

// table prints objects with the columns of the flux command. The name says the kind when there may be several.
type table struct {
	getOptions
	columns columns
	// several is set where units deploy to more than one cluster.
	several bool

	// grouped is set where the objects are of one kind in several API groups.
	grouped bool
	mu      sync.Mutex
	// widths are those of the columns so far; printed are the lines of objects, without what passes with the time.
	widths  []int
	printed map[engine.ObjectID]string
}

func newTable(o getOptions, list []*unstructured.Unstructured) *table {
	kinds := map[schema.GroupKind]bool{}
	for _, u := range list {
		kinds[console.GroupKindOf(u)] = true
	}
	return &table{
		getOptions: o, columns: columnsOf(o.Globals, o.kind, kinds), several: o.clusters.Several(list), grouped: o.kind != "" && len(kinds) > 1, printed: map[engine.ObjectID]string{},
	}
}

// print prints objects below the titles.
func (t *table) print(list []*unstructured.Unstructured) error {
	var rows [][]string
	if !t.bare {
		titles := t.columns.titles
		if !t.columns.whole {
			titles = append(append([]string{}, titles...), "READY", "MESSAGE")
		}
		rows = append(rows, t.row("NAMESPACE", "CLUSTER", "NAME", titles, []string{"AGE", "OWNER"}))
	}
	for _, u := range list {
		rows = append(rows, t.rowOf(u, time.Now()))
		t.printed[engine.IDOf(u)] = t.lasting(u)
	}
	for _, row := range rows {
		t.fit(row)
	}
	for _, row := range rows {
		if err := t.line(row); err != nil {
			return err
		}
	}
	return nil
}

// row puts the columns together that are shown.
func (t *table) row(namespace, cluster, name string, of, wide []string) []string {
	var row []string
	if t.namespace == "" {
		row = append(row, namespace)
	}
	row = append(row, name)
	if t.several {
		row = append(row, cluster)
	}
	if t.output == "wide" {
		row = append(row, wide...)
	}
	return append(row, of...)
}

// rowOf is the row of an object.
func (t *table) rowOf(u *unstructured.Unstructured, now time.Time) []string {
	values := t.columns.row(u)
	name := u.GetName()
	if t.grouped {
		name = strings.ToLower(console.GroupKindOf(u).String()) + "/" + name
	}
	if !t.columns.whole {
		if t.kind == "" {
			name = strings.ToLower(u.GetKind()) + "/" + name
		}
		s := t.Catalogue.StateOf(u)
		ready, message := s.Ready, s.Message
		if t.IsStatic(u) {
			ready, message = "-", "it has no status; headgate events shows its problems"
		}
		if t.output != "wide" {
			message = progress.Short(message)
		}
		values = append(values, ready, console.OneLine(message))
	}
	owner := "-"
	if ref, has := t.OwnerOf(u); has {
		owner = ref.String()
	}
	return t.row(u.GetNamespace(), t.clusters.Of(u), name, values, []string{duration.HumanDuration(now.Sub(u.GetCreationTimestamp().Time)), owner})
}

// lasting is the row of an object at a time that never passes.
func (t *table) lasting(u *unstructured.Unstructured) string {
	return strings.Join(t.rowOf(u, u.GetCreationTimestamp().Time), "\t")
}

// fit widens the columns for a row.
func (t *table) fit(row []string) {
	for i, cell := range row {
		if i == len(t.widths) {
			t.widths = append(t.widths, 0)
		}
		t.widths[i] = max(t.widths[i], len([]rune(cell)))
	}
}

func (t *table) line(row []string) error {
	var text strings.Builder
	for i, cell := range row {
		text.WriteString(cell)
		if i < len(row)-1 {
			text.WriteString(strings.Repeat(" ", t.widths[i]-len([]rune(cell))+2))
		}
	}
	_, err := fmt.Fprintln(t.IO.Out, text.String())
	return err
}

// changed prints an object again if its line is another one than before.
func (t *table) changed(u *unstructured.Unstructured, gone bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	id, row, lasting := engine.IDOf(u), t.rowOf(u, time.Now()), t.lasting(u)
	if gone {
		row[len(row)-1] += " (deleted)"
		delete(t.printed, id)
	} else {
		if t.printed[id] == lasting {
			return nil
		}
		t.printed[id] = lasting
	}
	t.fit(row)
	return t.line(row)
}

// again is after how long a watch that ended is begun once more.
const again = time.Second

// watchTable prints a table, and objects again when their lines change.
func watchTable(ctx context.Context, o getOptions, client dynamic.Interface, list []*unstructured.Unstructured) error {
	kinds, err := o.served()
	if err != nil {
		return err
	}
	selector, err := labels.Parse(o.labels)
	if err != nil {
		return console.Hint(fmt.Errorf("-l %q: %w", o.labels, err), "headgate get -l app=web")
	}
	t := newTable(o, list)
	if err := t.print(list); err != nil {
		return err
	}
	all, ctx := errgroup.WithContext(ctx)
	for _, k := range kinds {
		all.Go(func() error { return t.follow(ctx, client.Resource(k.Resource).Namespace(o.namespace), selector) })
	}
	return all.Wait()
}

// follow watches the objects of a kind until ctx ends. A kind that is not served has none.
func (t *table) follow(ctx context.Context, client dynamic.ResourceInterface, selector labels.Selector) error {
	for ctx.Err() == nil {
		w, err := client.Watch(ctx, metav1.ListOptions{LabelSelector: t.labels})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			return console.Unreachable(fmt.Errorf("watching: %w", err))
		}
		if err == nil {
			err = t.take(w, selector)
			w.Stop()
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
	return nil
}

// take prints what a watch tells until it ends.
func (t *table) take(w watch.Interface, selector labels.Selector) error {
	for event := range w.ResultChan() {
		u, is := event.Object.(*unstructured.Unstructured)
		if !is || event.Type == watch.Error || event.Type == watch.Bookmark || !t.wanted(u, selector) {
			continue
		}
		if err := t.changed(u, event.Type == watch.Deleted); err != nil {
			return err
		}
	}
	return nil
}
