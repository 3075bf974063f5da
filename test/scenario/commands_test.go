package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"

	"github.com/headgate-dev/headgate/internal/cli"
	"github.com/headgate-dev/headgate/internal/kit"
)

func (w *world) namespace(ctx context.Context, name string) error {
	client, err := kubernetes.NewForConfig(w.kit.Config)
	if err != nil {
		return err
	}
	if _, err = client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err = client.CoreV1().Secrets(name).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "git"},
		Data:       map[string][]byte{"username": []byte(kit.User), "password": []byte(kit.Token)},
	}, metav1.CreateOptions{})
	return err
}

// tearDown deletes what the script declared; what remains is harmless.
func (w *world) tearDown(name string) {
	w.tearDownApps(name)
	r, _, err := w.resource("Kustomization")
	if err == nil {
		_ = w.client.Resource(r.Resource).Namespace(name).DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{})
	}
}

type mapping struct {
	Resource   schemaGVR
	Namespaced bool
}

// resource finds a kind by its name, by a short name of it, or by git or oci; KIND.GROUP is that of a group.
func (w *world) resource(kind string) (mapping, string, error) { return w.resourceFor("", kind) }

// resourceFor is resource for a script, which does not mean the kinds that other scripts have defined: they have the same few names.
func (w *world) resourceFor(script, kind string) (mapping, string, error) {
	if long, known := map[string]string{
		"git": "GitRepository", "oci": "OCIRepository", "ag": "ArtifactGenerator", "ea": "ExternalArtifact",
	}[kind]; known {
		kind = long
	}
	if known, ok := w.kinds.Load(kind); ok {
		found := known.(servedKind)
		return found.mapping, found.kind, nil
	}
	asked := kind
	kind, group, _ := strings.Cut(kind, ".")
	disc, err := discovery.NewDiscoveryClientForConfig(w.kit.Config)
	if err != nil {
		return mapping{}, "", err
	}
	_, lists, err := disc.ServerGroupsAndResources()
	if err != nil {
		return mapping{}, "", err
	}
	for _, list := range lists {
		for i := range list.APIResources {
			r := &list.APIResources[i]
			if (r.Kind == kind || slices.Contains(r.ShortNames, kind)) && !strings.Contains(r.Name, "/") {
				gv, err := parseGroupVersion(list.GroupVersion)
				if err == nil && (group != "" && gv.Group != group || elsewhere(gv.Group, script)) {
					continue
				}
				m := mapping{gv.WithResource(r.Name), r.Namespaced}
				if err == nil && !strings.HasSuffix(gv.Group, "example.dev") {
					w.kinds.Store(asked, servedKind{m, r.Kind})
				}
				return m, r.Kind, err
			}
		}
	}
	return mapping{}, "", fmt.Errorf("kind %q is not served", kind)
}

// servedKind is a kind that was found. Those that scripts define are not kept: they come and go.
type servedKind struct {
	mapping mapping
	kind    string
}

// scriptGroup is an API group that a script defines, with the namespace of the script.
var scriptGroup = regexp.MustCompile(`(?:^|\.)(s\d+)(?:-[a-z]+)?\.example\.dev$`)

// elsewhere reports whether an API group is one that another script has defined.
func elsewhere(group, script string) bool {
	m := scriptGroup.FindStringSubmatch(group)
	return m != nil && m[1] != script
}

// object returns the client and the name for KIND/NAME, in the namespace of the script, or for
// KIND/NAMESPACE/NAME.
func (w *world) object(ts *testscript.TestScript, text string) (dynamic.ResourceInterface, string) {
	parts := strings.Split(text, "/")
	usage(ts, len(parts) == 2 || len(parts) == 3, "KIND/NAME or KIND/NAMESPACE/NAME")
	m, _, err := w.resourceFor(ts.Getenv("NS"), parts[0])
	ts.Check(err)
	namespace := ts.Getenv("NS")
	if len(parts) == 3 {
		namespace = parts[1]
	}
	if !m.Namespaced {
		return w.client.Resource(m.Resource), parts[len(parts)-1]
	}
	return w.client.Resource(m.Resource).Namespace(namespace), parts[len(parts)-1]
}

// commit pushes the directory repo as a commit, whose name is HEAD from then on: "commit".
func (w *world) commit(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) == 0, "commit")
	dir := ts.MkAbs("repo")
	url := strings.Replace(ts.Getenv("URL"), "http://", "http://"+kit.User+":"+kit.Token+"@", 1)
	script := `git init -q -b main . 2>/dev/null; git add -A && git -c user.name=dev -c user.email=dev@example.dev commit -q --allow-empty -m change && git push -q -f "$0" HEAD:main && git rev-parse HEAD`
	cmd := exec.Command("sh", "-c", script, url)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+ts.MkAbs("."))
	out, err := cmd.CombinedOutput()
	if err != nil {
		ts.Fatalf("git: %v: %s", err, out)
	}
	lines := strings.Fields(string(out))
	ts.Setenv("HEAD", lines[len(lines)-1])
}

// pushes sends a reference of the directory repo.
func (w *world) pushes(ts *testscript.TestScript, ref string) {
	url := strings.Replace(ts.Getenv("URL"), "http://", "http://"+kit.User+":"+kit.Token+"@", 1)
	cmd := exec.Command("git", "push", "-q", "-f", url, ref)
	cmd.Dir = ts.MkAbs("repo")
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+ts.MkAbs("."))
	if out, err := cmd.CombinedOutput(); err != nil {
		ts.Fatalf("git: %v: %s", err, out)
	}
}

// undo takes the last commit back, here and on the server: "undo".
func (w *world) undo(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) == 0, "undo")
	url := strings.Replace(ts.Getenv("URL"), "http://", "http://"+kit.User+":"+kit.Token+"@", 1)
	cmd := exec.Command("sh", "-c", `git reset -q --hard HEAD~1 && git push -q -f "$0" HEAD:main`, url)
	cmd.Dir = ts.MkAbs("repo")
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+ts.MkAbs("."))
	if out, err := cmd.CombinedOutput(); err != nil {
		ts.Fatalf("git: %v: %s", err, out)
	}
}

// pull fetches a branch that was pushed into the directory repo, replacing its content: "pull BRANCH".
func (w *world) pull(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) == 1, "pull BRANCH")
	url := strings.Replace(ts.Getenv("URL"), "http://", "http://"+kit.User+":"+kit.Token+"@", 1)
	cmd := exec.Command("sh", "-c", `git fetch -q "$0" "$1" && git reset -q --hard FETCH_HEAD`, url, args[0])
	cmd.Dir = ts.MkAbs("repo")
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+ts.MkAbs("."))
	if out, err := cmd.CombinedOutput(); err != nil {
		ts.Fatalf("git: %v: %s", err, out)
	}
}

const rootTemplate = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: repo, namespace: %[1]s}
spec: {url: %[2]q, interval: 1h, ref: {branch: main}, secretRef: {name: git}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: root, namespace: %[1]s}
spec: {interval: 1h, retryInterval: 1h, path: %[3]q, prune: true, targetNamespace: %[1]s, sourceRef: {kind: GitRepository, name: repo}}
`

// root makes a source and a root unit: "root PATH".
func (w *world) root(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) == 1, "root PATH")
	ts.Check(w.put(fmt.Sprintf(rootTemplate, ts.Getenv("NS"), ts.Getenv("URL"), args[0])))
}

// kapply applies a file as another manager would: "kapply FILE [MANAGER]". What "! kapply FILE" is refused with is its stderr.
func (w *world) kapply(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 1 || len(args) == 2, "kapply FILE [MANAGER]")
	manager := append(args, "script")[1]
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	w.until(ts, args[0]+" is applied", func() (bool, string) {
		err := w.putAs(manager, text)
		if meta.IsNoMatchError(err) {
			// A kind that has just come is announced a moment later.
			return false, err.Error()
		}
		if neg != (err != nil) {
			ts.Fatalf("applying %s: %v", args[0], err)
		}
		if neg {
			fmt.Fprintln(ts.Stderr(), err)
		}
		return true, ""
	})
}

func (w *world) put(text string) error { return w.putAs("script", text) }

// putAs applies objects for a field manager.
func (w *world) putAs(manager, text string) error {
	disc, err := discovery.NewDiscoveryClientForConfig(w.kit.Config)
	if err != nil {
		return err
	}
	groups, err := restmapper.GetAPIGroupResources(disc)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	decoder := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		u := &unstructured.Unstructured{}
		if decoder.Decode(&u.Object) != nil {
			return nil
		}
		m, err := mapper.RESTMapping(u.GroupVersionKind().GroupKind(), u.GroupVersionKind().Version)
		if err != nil {
			return err
		}
		data, err := json.Marshal(u.Object)
		if err != nil {
			return err
		}
		force := true
		_, err = w.client.Resource(m.Resource).Namespace(u.GetNamespace()).Patch(context.Background(), u.GetName(),
			types.ApplyPatchType, data, metav1.PatchOptions{FieldManager: manager, Force: &force})
		if err != nil {
			return err
		}
	}
}

// until tries a condition of a script until it holds. Each try asks a lot of the server.
func (w *world) until(ts *testscript.TestScript, what string, try func() (bool, string)) {
	poll(standing{ts, w}, 50*time.Millisecond, "waiting for "+what, try)
}

// standing fails a script that has waited in vain with where its units stand, those of its namespace and those that are named after it.
type standing struct {
	*testscript.TestScript
	w *world
}

func (s standing) Fatalf(format string, args ...any) {
	text, ns := fmt.Sprintf(format, args...), s.Getenv("NS")
	states, _ := s.w.kit.Engine.States(context.Background())
	for i := range states {
		u := &states[i]
		if id := u.Unit; id.Namespace == ns || strings.HasPrefix(id.Namespace, ns+"-") || strings.HasPrefix(id.Name, ns+"-") {
			text += fmt.Sprintf("\n%s: %s for %s at %q: %s", id, u.Phase, time.Since(u.Since).Round(time.Millisecond), u.Revision, u.Message)
		}
	}
	s.TestScript.Fatalf("%s", text)
}

// failer is a test or a script.
type failer interface {
	Fatalf(format string, args ...any)
}

// poll tries a condition until it holds; the last reason why not is shown when patience ends.
func poll(t failer, every time.Duration, what string, try func() (bool, string)) {
	if helped, ok := t.(interface{ Helper() }); ok {
		helped.Helper()
	}
	pollFor(t, patience, every, what, try)
}

// pollFor is poll with a patience of its own.
func pollFor(t failer, patience, every time.Duration, what string, try func() (bool, string)) {
	if helped, ok := t.(interface{ Helper() }); ok {
		helped.Helper()
	}
	began, deadline := time.Now(), time.After(patience)
	for {
		ok, last := try()
		if ok {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%s: %s", what, last)
		case <-time.After(max(every, min(time.Since(began)/50, 50*time.Millisecond))):
		}
	}
}

func conditionOf(u *unstructured.Unstructured, kind string) (status, text string) {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, item := range list {
		c, _ := item.(map[string]any)
		if c["type"] == kind {
			return fmt.Sprint(c["status"]), fmt.Sprint(c["reason"], ": ", c["message"])
		}
	}
	return "", ""
}

// observedByReady is the generation that the Ready condition is about, for kinds that tell it nowhere else.
func observedByReady(u *unstructured.Unstructured) int64 {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, item := range list {
		c, _ := item.(map[string]any)
		if generation, ok := c["observedGeneration"].(int64); ok && c["type"] == "Ready" {
			return generation
		}
	}
	return 0
}

// kwait waits for a condition: "kwait KIND/NAME ready", "kwait KIND/NAME failed REGEXP", or for a
// field: "kwait KIND/NAME FIELD REGEXP".
func (w *world) kwait(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) >= 2 && len(args) <= 3, "kwait KIND/NAME ready|failed|FIELD [REGEXP]")
	pattern := regexp.MustCompile(".*")
	if len(args) == 3 {
		pattern = regexp.MustCompile(args[2])
	}
	w.until(ts, strings.Join(args, " "), func() (bool, string) {
		client, name := w.object(ts, args[0])
		u, err := client.Get(context.Background(), name, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		if args[1] != "ready" && args[1] != "failed" {
			value := field(u, args[1])
			return pattern.MatchString(value), "it is " + value + told(u)
		}
		status, text := conditionOf(u, "Ready")
		observed, told, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
		if !told {
			observed = observedByReady(u)
		}
		want := map[string]string{"ready": "True", "failed": "False"}[args[1]]
		current := args[1] != "ready" || observed == u.GetGeneration()
		return status == want && current && pattern.MatchString(text), status + " " + text
	})
}

// kcan waits until the API server knows that an account of the namespace may do something, or that it may not: "kcan ACCOUNT VERB
// RESOURCE[.GROUP]". Roles count a moment after they were written.
func (w *world) kcan(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 3, "kcan ACCOUNT VERB RESOURCE[.GROUP]")
	namespace := ts.Getenv("NS")
	resource, group, _ := strings.Cut(args[2], ".")
	w.until(ts, strings.Join(args, " "), func() (bool, string) {
		review := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
			"spec": map[string]any{
				"user":               "system:serviceaccount:" + namespace + ":" + args[0],
				"resourceAttributes": map[string]any{"namespace": namespace, "verb": args[1], "resource": resource, "group": group},
			},
		}}
		reviews := schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "subjectaccessreviews"}
		made, err := w.client.Resource(reviews).Create(context.Background(), review, metav1.CreateOptions{})
		if err != nil {
			return false, err.Error()
		}
		allowed, _, _ := unstructured.NestedBool(made.Object, "status", "allowed")
		return allowed != neg, map[bool]string{true: "it is allowed", false: "it is not allowed"}[allowed]
	})
}

// kget prints a field: "kget KIND/NAME FIELD".
func (w *world) kget(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 2, "kget KIND/NAME FIELD")
	client, name := w.object(ts, args[0])
	u, err := client.Get(context.Background(), name, metav1.GetOptions{})
	if neg != (err != nil) {
		ts.Fatalf("reading %s: %v", args[0], err)
	}
	if err == nil {
		fmt.Fprintln(ts.Stdout(), field(u, args[1]))
	}
}

func field(u *unstructured.Unstructured, path string) string {
	value, _, _ := unstructured.NestedFieldNoCopy(u.Object, strings.Split(path, ".")...)
	if s, ok := value.(string); ok {
		return s
	}
	data, _ := json.Marshal(value)
	return string(data)
}

// kgone waits until an object is gone: "kgone KIND/NAME".
func (w *world) kgone(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) == 1, "kgone KIND/NAME")
	client, name := w.object(ts, args[0])
	w.until(ts, "the end of "+args[0], func() (bool, string) {
		_, err := client.Get(context.Background(), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), "it is there"
	})
}

// kmerge changes an object by hand: "kmerge KIND/NAME JSON", or "kmerge KIND/NAME @FILE" with the JSON in a file. With "status" after
// it, it changes what only that subresource does.
func (w *world) kmerge(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) == 2 || len(args) == 3 && args[2] == "status", "kmerge KIND/NAME JSON|@FILE [status]")
	if file, named := strings.CutPrefix(args[1], "@"); named {
		args[1] = ts.ReadFile(file)
	}
	client, name := w.object(ts, args[0])
	_, err := client.Patch(context.Background(), name, types.MergePatchType, []byte(args[1]), metav1.PatchOptions{FieldManager: "kubectl-edit"}, args[2:]...)
	ts.Check(err)
}

// kdelete deletes an object by hand: "kdelete KIND/NAME".
func (w *world) kdelete(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) == 1, "kdelete KIND/NAME")
	client, name := w.object(ts, args[0])
	ts.Check(client.Delete(context.Background(), name, metav1.DeleteOptions{}))
}

// headgate runs a command of the command line.
func (w *world) headgate(ts *testscript.TestScript, neg bool, args []string) {
	var out, errs bytes.Buffer
	code := cli.Main(context.Background(), w.arguments(ts, args), cli.IO{In: strings.NewReader(""), Out: &out, Err: &errs, Child: true})
	fmt.Fprint(ts.Stdout(), out.String())
	fmt.Fprint(ts.Stderr(), errs.String())
	if neg == (code == 0) {
		ts.Fatalf("exit code %d\n%s%s", code, out.String(), errs.String())
	}
}

// arguments are those of a command that works on the cluster of the scripts.
func (w *world) arguments(ts *testscript.TestScript, args []string) []string {
	args = append([]string{"--kubeconfig", w.kit.Plane.Kubeconfig(), "--state-dir", ts.MkAbs(".state")}, args...)
	for i, a := range args {
		if strings.HasPrefix(a, "./") {
			args[i] = ts.MkAbs(a)
		}
	}
	return args
}

// staying is a command that stays until it is interrupted.
type staying struct {
	out, errs output
	interrupt context.CancelFunc
	code      chan int
}

// stayingKey is under what a script keeps the command that it began.
const stayingKey = "staying"

// begin starts a command of the command line that stays, and waits until it prints something: "begin COMMAND...".
func (w *world) begin(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	s, ok := ts.Value(stayingKey).(*staying)
	usage(ts, ok && s.interrupt == nil && len(args) > 0, "begin COMMAND...; one at a time")
	var ctx context.Context
	ctx, s.interrupt = context.WithCancel(context.Background())
	s.code = make(chan int, 1)
	args = w.arguments(ts, args)
	go func() {
		s.code <- cli.Main(ctx, args, cli.IO{In: strings.NewReader(""), Out: &s.out, Err: &s.errs, Child: true})
	}()
	ts.Defer(s.interrupt)
	w.until(ts, "the first output", func() (bool, string) { return s.out.String() != "", s.errs.String() })
}

// end waits until the command that was begun has printed something, and interrupts it: "end REGEXP".
func (w *world) end(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	s, ok := ts.Value(stayingKey).(*staying)
	usage(ts, ok && s.interrupt != nil && len(args) == 1, "end REGEXP, after begin")
	pattern := regexp.MustCompile(args[0])
	w.until(ts, "output that matches "+args[0], func() (bool, string) {
		return pattern.MatchString(s.out.String()), s.out.String() + s.errs.String()
	})
	s.interrupt()
	if code := <-s.code; code != 130 {
		ts.Fatalf("exit code %d\n%s", code, s.errs.String())
	}
}

// expand replaces $NS and the like in files: "expand FILE...".
func (w *world) expand(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	for _, name := range args {
		text := strings.NewReplacer("$NS", ts.Getenv("NS"), "$REGISTRY", ts.Getenv("REGISTRY"), "$S3", ts.Getenv("S3"),
			"$CHARTS", ts.Getenv("CHARTS"), "$URL", ts.Getenv("URL"), "$LATE", ts.Getenv("LATE")).Replace(ts.ReadFile(name))
		ts.Check(os.WriteFile(ts.MkAbs(filepath.FromSlash(name)), []byte(text), 0o644))
	}
}

// ocipush pushes a directory as an artifact: "ocipush TAG DIRECTORY [KEY=VALUE...]" with annotations. Its
// repository is that of the script.
func (w *world) ocipush(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) >= 2, "ocipush TAG DIRECTORY [KEY=VALUE...]")
	files, annotations := filesBelow(ts, args[1], ""), map[string]string{}
	for _, pair := range args[2:] {
		key, value, _ := strings.Cut(pair, "=")
		annotations[key] = value
	}
	ts.Check(w.registry.Push(context.Background(), ts.Getenv("NS")+"/app:"+args[0], files, annotations))
}

func filesBelow(ts *testscript.TestScript, dir, prefix string) map[string][]byte {
	files := map[string][]byte{}
	root := os.DirFS(ts.MkAbs(dir))
	ts.Check(fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[prefix+path], err = fs.ReadFile(root, path)
		return err
	}))
	return files
}

// chartpush pushes a directory as a chart: "chartpush VERSION DIRECTORY". Its Chart.yaml is written here;
// the name of the chart is that of the directory, its repository that of the script.
func (w *world) chartpush(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) == 2, "chartpush VERSION DIRECTORY")
	name, files := chartBelow(ts, args[1], args[0])
	ts.Check(w.registry.PushChart(context.Background(), ts.Getenv("NS")+"/"+name+":"+args[0], files))
}

func chartBelow(ts *testscript.TestScript, dir, version string) (name string, files map[string][]byte) {
	name = filepath.Base(dir)
	files = filesBelow(ts, dir, name+"/")
	files[name+"/Chart.yaml"] = fmt.Appendf(nil, "apiVersion: v2\nname: %s\nversion: %s\nappVersion: \"7\"\n", name, version)
	return name, files
}

// chartrepo is the Helm repository of the script: "chartrepo put VERSION DIRECTORY" adds a chart as
// chartpush does, "chartrepo login USER PASSWORD" has it ask for these, "chartrepo down" and "chartrepo up"
// take it out of service and back, and "chartrepo asked" prints what it was asked.
func (w *world) chartrepo(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) > 0, "chartrepo put|login|down|up|asked")
	repo := ts.Getenv("NS")
	switch {
	case args[0] == "put" && len(args) == 3:
		name, files := chartBelow(ts, args[2], args[1])
		ts.Check(w.charts.Put(repo, name, args[1], files))
	case args[0] == "login" && len(args) == 3:
		w.charts.Login(repo, args[1], args[2])
	case args[0] == "asked":
		_, err := fmt.Fprintln(ts.Stdout(), strings.Join(w.charts.Asked(repo), "\n"))
		ts.Check(err)
	default:
		usage(ts, args[0] == "down" || args[0] == "up", "chartrepo put VERSION DIRECTORY | login USER PASSWORD | down | up | asked")
		w.charts.Down(repo, args[0] == "down")
	}
}

// transfers reports how often the Git server has sent commits of the repository of the script: "transfers N".
func (w *world) transfers(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) == 1, "transfers N")
	if got := fmt.Sprint(w.kit.Transfers(ts.Getenv("NS"))); got != args[0] {
		ts.Fatalf("the server has sent commits %s times", got)
	}
}

// late holds the fetches of the script's repository by $LATE back, or has them go on: "late hold", "late go".
func (w *world) late(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) == 1 && (args[0] == "hold" || args[0] == "go"), "late hold|go")
	w.kit.HoldFetches(ts.Getenv("NS"), args[0] == "hold")
}

// service takes the registry out of service for the script, or back: "registry down", "registry up".
func (w *world) service(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) == 1 && (args[0] == "down" || args[0] == "up"), "registry down|up")
	w.registry.Down(ts.Getenv("NS"), args[0] == "down")
}

// s3put stores the files of a directory in the bucket of the script: "s3put DIRECTORY".
func (w *world) s3put(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) == 1, "s3put DIRECTORY")
	ts.Check(w.buckets.Put(ts.Getenv("NS")+"-bucket", filesBelow(ts, args[0], "")))
}

// external makes an ExternalArtifact of what git/repo has now: "external NAME".
func (w *world) external(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) == 1, "external NAME")
	repo, name := w.object(ts, "git/repo")
	from, err := repo.Get(context.Background(), name, metav1.GetOptions{})
	ts.Check(err)
	artifact, _, err := unstructured.NestedMap(from.Object, "status", "artifact")
	ts.Check(err)
	ts.Check(w.put(fmt.Sprintf("apiVersion: source.toolkit.fluxcd.io/v1\nkind: ExternalArtifact\nmetadata: {name: %s, namespace: %s}\n", args[0], ts.Getenv("NS"))))
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"artifact": artifact}})
	ts.Check(err)
	client, _ := w.object(ts, "ExternalArtifact/"+args[0])
	_, err = client.Patch(context.Background(), args[0], types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "someone"}, "status")
	ts.Check(err)
}
