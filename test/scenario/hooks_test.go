package scenario

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	notifyv1 "github.com/fluxcd/notification-controller/api/v1"
	"github.com/rogpeppe/go-internal/testscript"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// hookPath is where the hook of a receiver has to be.
func hookPath(namespace, name, token string) string {
	o := notifyv1.Receiver{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	return o.GetWebhookPath(token)
}

// hook sends a request as a forge does, and prints the status: "hook NAME:TOKEN FILE|- [HEADER=VALUE...]
// [sign=HEADER:ALGORITHM:TOKEN] [method=METHOD]". The body is that of the file, as JSON, or empty.
func (w *world) hook(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) >= 2, "hook NAME:TOKEN FILE|- [HEADER=VALUE...]")
	name, token, _ := strings.Cut(args[0], ":")
	status, err := w.callHook(ts, hookPath(ts.Getenv("NS"), name, token), args[1], args[2:])
	ts.Check(err)
	fmt.Fprintln(ts.Stdout(), status)
}

// untilHook is hook until the answer is the one that is wanted: "until-hook NAME:TOKEN STATUS FILE|- ...".
func (w *world) untilHook(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) >= 3, "until-hook NAME:TOKEN STATUS FILE|- [HEADER=VALUE...]")
	name, token, _ := strings.Cut(args[0], ":")
	w.until(ts, args[0]+" answers "+args[1], func() (bool, string) {
		status, err := w.callHook(ts, hookPath(ts.Getenv("NS"), name, token), args[2], args[3:])
		return err == nil && strconv.Itoa(status) == args[1], fmt.Sprint(status, err)
	})
}

func (w *world) callHook(ts *testscript.TestScript, path, file string, pairs []string) (int, error) {
	body := ""
	if file != "-" {
		body = ts.ReadFile(file)
	}
	method, header := http.MethodPost, http.Header{"Content-Type": {"application/json"}}
	if file == "-" {
		header = http.Header{}
	}
	for _, pair := range pairs {
		key, value, _ := strings.Cut(pair, "=")
		switch key {
		case "method":
			method = value
		case "sign":
			parts := strings.SplitN(value, ":", 3)
			usage(ts, len(parts) == 3, "sign=HEADER:ALGORITHM:TOKEN")
			made := map[string]func() hash.Hash{"sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New}[parts[1]]
			mac := hmac.New(made, []byte(parts[2]))
			mac.Write([]byte(body))
			header.Set(parts[0], parts[1]+"="+hex.EncodeToString(mac.Sum(nil)))
		default:
			header.Set(key, value)
		}
	}
	request, err := http.NewRequestWithContext(context.Background(), method, w.hooks+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header = header
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err == nil && len(said) > 0 {
		err = fmt.Errorf("the answer says %q", said)
	}
	return answer.StatusCode, err
}

// eventOf waits for an event of an object: "event-of KIND/NAME REGEXP". With "!" it looks once that there is none.
func (w *world) eventOf(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 2, "event-of KIND/NAME REGEXP")
	kind, name, _ := strings.Cut(args[0], "/")
	pattern := regexp.MustCompile(args[1])
	events := w.client.Resource(schemaGVR{Version: "v1", Resource: "events"}).Namespace(ts.Getenv("NS"))
	look := func() (bool, string) {
		list, err := events.List(context.Background(), metav1.ListOptions{FieldSelector: "involvedObject.kind=" + kind + ",involvedObject.name=" + name})
		if err != nil {
			return false, err.Error()
		}
		var all []string
		for i := range list.Items {
			u := &list.Items[i]
			all = append(all, field(u, "source.component")+" "+field(u, "type")+" "+field(u, "reason")+" "+field(u, "message"))
		}
		text := strings.Join(all, "\n")
		return pattern.MatchString(text), text
	}
	if !neg {
		w.until(ts, strings.Join(args, " "), look)
		return
	}
	if there, text := look(); there {
		ts.Fatalf("there is an event that matches %s:\n%s", args[1], text)
	}
}

const requested = "reconcile.fluxcd.io/requestedAt"

// flood sends the same request many times, and checks its effect on an object: "flood TIMES KIND/NAME
// NAME:TOKEN". It gets a request for a pass about once a second, and handles the last one.
func (w *world) flood(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) == 3, "flood TIMES KIND/NAME NAME:TOKEN")
	times, err := strconv.Atoi(args[0])
	ts.Check(err)
	client, object := w.object(ts, args[1])
	name, token, _ := strings.Cut(args[2], ":")
	path := hookPath(ts.Getenv("NS"), name, token)
	stream, err := client.Watch(context.Background(), metav1.ListOptions{FieldSelector: "metadata.name=" + object})
	ts.Check(err)
	asked := map[string]bool{}
	var seen, group sync.WaitGroup
	seen.Go(func() {
		for e := range stream.ResultChan() {
			if u, ok := e.Object.(*unstructured.Unstructured); ok && e.Type == watch.Modified {
				asked[u.GetAnnotations()[requested]] = true
			}
		}
	})
	began := time.Now()
	wrong := make(chan string, times)
	for range 8 {
		group.Go(func() {
			for range times / 8 {
				if status, err := w.callHook(ts, path, "-", nil); err != nil || status != http.StatusOK {
					wrong <- fmt.Sprint(status, err)
				}
			}
		})
	}
	group.Wait()
	close(wrong)
	if text, some := <-wrong; some {
		ts.Fatalf("a request was answered with %s", text)
	}
	w.until(ts, "the last request being handled", func() (bool, string) {
		u, err := client.Get(context.Background(), object, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		handled, _, _ := unstructured.NestedString(u.Object, "status", "lastHandledReconcileAt")
		at, err := time.Parse(time.RFC3339Nano, handled)
		return err == nil && at.After(began) && handled == u.GetAnnotations()[requested], handled
	})
	took := time.Since(began)
	stream.Stop()
	seen.Wait()
	if most := 3 + int(took/time.Second); len(asked) == 0 || len(asked) > most {
		ts.Fatalf("%d requests in %s asked for %d passes, which is none or more than %d", times, took, len(asked), most)
	}
}

// tenantReceivers are two of a tenant: one of them refers to an object of another tenant.
const tenantReceivers = `apiVersion: v1
kind: Secret
metadata: {name: hook, namespace: team}
stringData: {token: one}
---
apiVersion: notification.toolkit.fluxcd.io/v1
kind: Receiver
metadata: {name: own, namespace: team}
spec: {type: gitlab, events: [Push Hook], secretRef: {name: hook}, resources: [{kind: GitRepository, name: repo}]}
---
apiVersion: notification.toolkit.fluxcd.io/v1
kind: Receiver
metadata: {name: intruder, namespace: team}
spec: {type: generic, secretRef: {name: hook}, resources: [{kind: GitRepository, name: repo}, {kind: GitRepository, name: flux-system, namespace: flux-system}]}
`

// receiversOf sends requests to the process that serves the tenants.
func receiversOf(t *testing.T, p *process, dyn dynamic.Interface) {
	t.Helper()
	base := strings.TrimSuffix(regexp.MustCompile(`http://\S+/hook/`).FindString(p.output.String()), "/hook/")
	ready := func(name string) (string, string) {
		u, err := dyn.Resource(notifyv1.GroupVersion.WithResource("receivers")).Namespace("team").Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return "", err.Error()
		}
		return conditionOf(u, "Ready")
	}
	for name, want := range map[string]string{
		"own":      `^True Succeeded: Receiver initialized for path: /hook/`,
		"intruder": `^False AccessDenied: spec.resources\[1\]: GitRepository/flux-system/flux-system is in another namespace; references across namespaces are blocked on this cluster$`,
	} {
		eventually(t, "receiver "+name+" is "+want, func() (bool, string) {
			status, text := ready(name)
			return regexp.MustCompile(want).MatchString(status + " " + text), status + " " + text
		})
	}
	call := func(name, token string) int {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+hookPath("team", name, token), strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Gitlab-Token", token)
		request.Header.Set("X-Gitlab-Event", "Push Hook")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		return answer.StatusCode
	}
	if own, intruder, wrong := call("own", "one"), call("intruder", "one"), call("own", "two"); own != 200 || intruder != 404 || wrong != 404 {
		t.Errorf("the hooks answer %d, %d and %d", own, intruder, wrong)
	}
	sources := dyn.Resource(schemaGVR{Group: "source.toolkit.fluxcd.io", Version: "v1", Resource: "gitrepositories"})
	eventually(t, "the source of the tenant is fetched", func() (bool, string) {
		u, err := sources.Namespace("team").Get(t.Context(), "repo", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		handled := field(u, "status.lastHandledReconcileAt")
		return strings.HasPrefix(handled, "20"), handled
	})
	if u, err := sources.Namespace("flux-system").Get(t.Context(), "flux-system", metav1.GetOptions{}); err != nil || u.GetAnnotations()[requested] != "" {
		t.Errorf("a tenant reached another namespace: %v, error %v", u, err)
	}
}
