package helm

import (
	"context"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubemeta "k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

// ledger knows which versions the records of releases have, by one watch of their metadata, so that a
// release can be known to be as it was without a question.
type ledger struct {
	informer cache.SharedIndexInformer
	once     sync.Once
	stop     chan struct{}
}

// byRelease is the index of records by the release that they are of.
const byRelease = "release"

var secretResource = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}

// newLedger watches from now on, until it is closed, or until it turns out not to be permitted.
func newLedger(c *connection) (*ledger, error) {
	client, err := kubemeta.NewForConfig(c.config)
	if err != nil {
		return nil, err
	}
	indexers := cache.Indexers{byRelease: func(record any) ([]string, error) {
		o, err := meta.Accessor(record)
		if err != nil {
			return nil, err
		}
		return []string{o.GetNamespace() + "/" + o.GetLabels()["name"]}, nil
	}}
	owned := func(o *metav1.ListOptions) { o.LabelSelector = "owner=helm" }
	l := &ledger{stop: make(chan struct{})}
	l.informer = metadatainformer.NewFilteredMetadataInformer(client, secretResource, metav1.NamespaceAll, 0, indexers, owned).Informer()
	if err := l.informer.SetTransform(bare); err != nil {
		return nil, err
	}
	err = l.informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *cache.Reflector, err error) {
		if apierrors.IsForbidden(err) && !l.informer.HasSynced() {
			l.close()
			return
		}
		cache.DefaultWatchErrorHandler(ctx, r, err)
	})
	if err != nil {
		return nil, err
	}
	go l.informer.Run(l.stop)
	return l, nil
}

// bare keeps of a record what the ledger needs.
func bare(record any) (any, error) {
	o, err := meta.Accessor(record)
	if err != nil {
		// Not an object: the end of one that was missed.
		return record, nil
	}
	o.SetManagedFields(nil)
	o.SetAnnotations(nil)
	return record, nil
}

func (l *ledger) close() { l.once.Do(func() { close(l.stop) }) }

// mark is the versions of all records of a release; ok is false if they are unknown.
func (l *ledger) mark(namespace, name string) (mark string, ok bool) {
	if l.informer.IsStopped() || !l.informer.HasSynced() {
		return "", false
	}
	records, err := l.informer.GetIndexer().ByIndex(byRelease, namespace+"/"+name)
	if err != nil {
		return "", false
	}
	var versions []string
	for _, record := range records {
		o, err := meta.Accessor(record)
		if err != nil {
			return "", false
		}
		versions = append(versions, o.GetName()+"@"+o.GetResourceVersion())
	}
	slices.Sort(versions)
	return strings.Join(versions, " "), true
}
