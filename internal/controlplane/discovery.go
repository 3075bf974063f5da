package controlplane

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"k8s.io/client-go/tools/cache"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregatorinformers "k8s.io/kube-aggregator/pkg/client/informers/externalversions"
)

// deadServices are the APIServices that a Service should serve, whose pods only seem to run here.
// No pod answers for them, so they are removed from discovery: one that stays in it blocks every
// deletion of a namespace, garbage collection and quotas.
type deadServices struct {
	told *teller
	mu   sync.RWMutex
	dead map[string]map[string]bool // group -> versions
}

func newDeadServices(told *teller) *deadServices {
	return &deadServices{told: told, dead: map[string]map[string]bool{}}
}

func (d *deadServices) watch(factory aggregatorinformers.SharedInformerFactory) error {
	informer := factory.Apiregistration().V1().APIServices().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { d.note(obj, true) },
		UpdateFunc: func(_, obj any) { d.note(obj, true) },
		DeleteFunc: func(obj any) { d.note(obj, false) },
	})
	if err != nil {
		return fmt.Errorf("watching APIServices: %w", err)
	}
	return nil
}

func (d *deadServices) note(obj any, there bool) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	s, ok := obj.(*apiregistrationv1.APIService)
	if !ok {
		return
	}
	dead := there && s.Spec.Service != nil
	d.mu.Lock()
	defer d.mu.Unlock()
	if !dead {
		delete(d.dead[s.Spec.Group], s.Spec.Version)
		return
	}
	if d.dead[s.Spec.Group] == nil {
		d.dead[s.Spec.Group] = map[string]bool{}
	}
	d.dead[s.Spec.Group][s.Spec.Version] = true
	d.told.tell("APIService %s is served by Service %s/%s, whose pods are simulated: it is removed from discovery",
		s.Name, s.Spec.Service.Namespace, s.Spec.Service.Name)
}

func (d *deadServices) isDead(group, version string) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.dead[group][version]
}

func (d *deadServices) any() bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, versions := range d.dead {
		if len(versions) > 0 {
			return true
		}
	}
	return false
}

// filter answers requests to dead groups at once, and takes them out of discovery documents.
func (d *deadServices) filter(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
		if len(parts) >= 3 && parts[0] == "apis" && d.isDead(parts[1], parts[2]) {
			http.Error(w, fmt.Sprintf("group %s is served by simulated pods", parts[1]), http.StatusNotFound)
			return
		}
		document := r.Method == http.MethodGet && parts[0] == "apis" && len(parts) <= 2
		if !document || !d.any() {
			next.ServeHTTP(w, r)
			return
		}
		r.Header.Set("Accept", jsonOnly(r.Header.Get("Accept")))
		r.Header.Del("If-None-Match")
		r.Header.Del("Accept-Encoding")
		buffer := &bufferedResponse{header: http.Header{}, code: http.StatusOK}
		next.ServeHTTP(buffer, r)
		buffer.send(w, d)
	})
}

// jsonOnly takes the media types out of an Accept header that could not be edited here.
func jsonOnly(accept string) string {
	var kept []string
	for _, part := range strings.Split(accept, ",") {
		if strings.Contains(part, "json") {
			kept = append(kept, strings.TrimSpace(part))
		}
	}
	if len(kept) == 0 {
		return "application/json"
	}
	return strings.Join(kept, ",")
}

type bufferedResponse struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (b *bufferedResponse) Header() http.Header         { return b.header }
func (b *bufferedResponse) WriteHeader(code int)        { b.code = code }
func (b *bufferedResponse) Write(p []byte) (int, error) { return b.body.Write(p) }

func (b *bufferedResponse) send(w http.ResponseWriter, d *deadServices) {
	body := b.body.Bytes()
	if b.code == http.StatusOK {
		if edited, ok := d.edit(body); ok {
			body = edited
		}
	}
	for key, values := range b.header {
		w.Header()[key] = values
	}
	w.Header().Del("ETag")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(b.code)
	_, _ = w.Write(body)
}

// edit takes dead versions, and groups without any other, out of a discovery document of either
// form.
func (d *deadServices) edit(body []byte) ([]byte, bool) {
	var document map[string]any
	if json.Unmarshal(body, &document) != nil {
		return nil, false
	}
	for _, list := range []string{"items", "groups"} {
		groups, ok := document[list].([]any)
		if !ok {
			continue
		}
		kept := make([]any, 0, len(groups))
		for _, g := range groups {
			if group, ok := g.(map[string]any); ok && d.editGroup(group) {
				kept = append(kept, group)
			}
		}
		document[list] = kept
	}
	edited, err := json.Marshal(document)
	return edited, err == nil
}

// editGroup takes the dead versions out of a group and reports whether any is left.
func (d *deadServices) editGroup(group map[string]any) bool {
	name, _ := group["name"].(string)
	if metadata, ok := group["metadata"].(map[string]any); ok {
		name, _ = metadata["name"].(string)
	}
	versions, _ := group["versions"].([]any)
	kept := make([]any, 0, len(versions))
	for _, v := range versions {
		version, _ := v.(map[string]any)
		id, _ := version["version"].(string)
		if !d.isDead(name, id) {
			kept = append(kept, v)
		}
	}
	group["versions"] = kept
	return len(kept) > 0
}
