package boot

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/gitea"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/idp"
)

const (
	// gitAdminEmail is the address of the account idp.Owner, who administers the embedded Git server.
	gitAdminEmail = "gitea@cnoe.io"
	// hookTimeout bounds a delivery, as Gitea does.
	hookTimeout = 5 * time.Second
)

// forgeURLs are where idpbuilder has Gitea, by host and by path. Repositories and images are written with these addresses, which stay the same
// from one start to the next, and are read from the embedded server.
var forgeURLs = []string{"https://gitea.cnoe.localtest.me:8443/", "https://cnoe.localtest.me:8443/gitea/"}

// The Secret with what the embedded Git server keeps from one start to the next. The cluster encrypts it at rest, as every Secret.
const (
	forgeNamespace = metav1.NamespaceSystem
	forgeSecret    = "headgate-git-server"
	forgePassword  = "password"
	forgeKey       = "hooks.key"
	// forgeKeySize is in bytes.
	forgeKeySize = 32
)

// startGitea has the Git server answer as Gitea. There is none beside a cluster that others share: its state is not ours.
func (s *system) startGitea(ctx context.Context, late *lateHandler) error {
	s.login = s.token
	if s.plane == nil {
		late.set(http.NotFoundHandler())
		return nil
	}
	kept, err := keepForge(ctx, s.config, s.server.Base())
	if err != nil {
		return err
	}
	s.login = string(kept[forgePassword])
	log := logr.FromContextOrDiscard(ctx).WithName("gitea")
	s.gitea, err = gitea.New(ctx, gitea.Config{
		Dir: filepath.Join(s.state, "gitea"), Root: s.server.Base(), Key: kept[forgeKey], Client: s.options.serving.egress.Requests.Client(hookTimeout), Guard: guard.New(log, nil), Log: log,
	})
	if err != nil {
		return fmt.Errorf("starting the API of the Git server: %w", err)
	}
	if err := s.gitea.EnsureAdmin(idp.Owner, gitAdminEmail, s.login); err != nil {
		return err
	}
	if err := s.gitea.ServeImages(ctx); err != nil {
		return fmt.Errorf("starting the registry of the Git server: %w", err)
	}
	s.gitea.OnChange(func(owner, name string) {
		if engine := s.leader.current(); engine != nil {
			engine.Nudge(func(url string) bool { return isPushed(url, s.server.Base(), owner, name) })
		}
	})
	s.gitea.OnImage(func(owner, name string) {
		if engine := s.leader.current(); engine != nil {
			engine.Nudge(func(url string) bool { return isImage(url, s.server.Base(), owner, name) })
		}
	})
	here := make([]string, len(forgeURLs))
	for i, from := range forgeURLs {
		here[i] = from + "=" + s.server.Base() + "/"
	}
	if s.options.serving.rewrites, err = s.options.serving.rewrites.With(here); err != nil {
		return err
	}
	late.set(s.gitea)
	return nil
}

// isPushed reports whether a URL is that of a repository of the Git server.
func isPushed(url, base, owner, name string) bool {
	for _, at := range append([]string{base + "/"}, forgeURLs...) {
		if strings.EqualFold(strings.TrimSuffix(url, ".git"), at+owner+"/"+name) {
			return true
		}
	}
	return false
}

// isImage reports whether an address is that of an image, or of a chart, in the registry of the Git server.
func isImage(address, base, owner, name string) bool {
	address = strings.TrimPrefix(address, "oci://")
	for _, at := range append([]string{base + "/"}, forgeURLs...) {
		_, at, _ = strings.Cut(at, "://")
		host, _, _ := strings.Cut(at, "/")
		if strings.EqualFold(address, host+"/"+owner+"/"+name) {
			return true
		}
	}
	return false
}

// keepForge reads the password of the administrator and the key of the hooks from the cluster, or creates them. One that someone has made
// unusable is created again, which the other outlives. The Secret has the address of this start, too.
func keepForge(ctx context.Context, config *rest.Config, url string) (map[string][]byte, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	secrets := client.CoreV1().Secrets(forgeNamespace)
	there, err := secrets.Get(ctx, forgeSecret, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("reading Secret %s/%s: %w", forgeNamespace, forgeSecret, err)
	}
	missing := err != nil
	if missing {
		there = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: forgeNamespace, Name: forgeSecret}}
	}
	changed, err := completeForge(there, url)
	if err != nil || !changed {
		return there.Data, err
	}
	if missing {
		_, err = secrets.Create(ctx, there, metav1.CreateOptions{FieldManager: forgeManager})
	} else {
		_, err = secrets.Update(ctx, there, metav1.UpdateOptions{FieldManager: forgeManager})
	}
	if err != nil {
		return nil, fmt.Errorf("storing the login of the Git server in Secret %s/%s: %w", forgeNamespace, forgeSecret, err)
	}
	return there.Data, nil
}

// forgeManager is the field manager of that Secret.
const forgeManager = "headgate-git-server"

// completeForge adds what a Secret does not have, and reports whether that was anything.
func completeForge(s *corev1.Secret, url string) (changed bool, err error) {
	if s.Data == nil {
		s.Data = map[string][]byte{}
	}
	for key, text := range map[string]string{"username": idp.Owner, "url": url} {
		if string(s.Data[key]) != text {
			s.Data[key], changed = []byte(text), true
		}
	}
	if len(s.Data[forgePassword]) == 0 {
		random := make([]byte, 20)
		if _, err := rand.Read(random); err != nil {
			return false, fmt.Errorf("creating a password: %w", err)
		}
		s.Data[forgePassword], changed = []byte(hex.EncodeToString(random)), true
	}
	if len(s.Data[forgeKey]) != forgeKeySize {
		key := make([]byte, forgeKeySize)
		if _, err := rand.Read(key); err != nil {
			return false, fmt.Errorf("creating a key: %w", err)
		}
		s.Data[forgeKey], changed = key, true
	}
	return changed, nil
}

// packageIndex lists the repositories of packages on the Git server, as private ones of its administrator: they are files of a person, and other
// accounts of the machine reach the server too. The engine reads them with a login of its own.
type packageIndex struct{ server *gitea.Server }

// Show implements deploy.Index.
func (p packageIndex) Show(name, dir string) error {
	return p.server.Show(gitea.Mirror{
		Owner: idp.Owner, Name: name, Dir: dir, Branch: mirrorBranch, Private: true,
		Reason: "this repository mirrors a directory of a package: change the files there, which are here within a second",
	})
}

// Hide implements deploy.Index.
func (p packageIndex) Hide(name string) error { return p.server.Hide(idp.Owner, name) }

// Changed implements deploy.Index.
func (p packageIndex) Changed(ctx context.Context, name string) error {
	return p.server.Changed(ctx, idp.Owner, name)
}

// mirrorBranch is the branch of the repositories of packages.
const mirrorBranch = "main"

// listMirror lists the working copy that is served, for its user alone.
func (s *system) listMirror() {
	if s.gitea == nil {
		return
	}
	err := s.gitea.Show(gitea.Mirror{
		Owner: idp.Owner, Name: repository, Dir: s.mirror.Dir(), Branch: s.mirror.Branch(), Private: true,
		Reason: "this repository mirrors the directory " + s.mirror.Root() + ": commit or save there, which is here within a second",
	})
	if err != nil {
		s.say.Problem("repository", fmt.Sprintf("it is not listed on the Git server: %v", err))
	}
}

// mirrorChanged has hooks hear of a change of the working copy.
func (s *system) mirrorChanged(ctx context.Context) {
	if s.gitea == nil {
		return
	}
	if err := s.gitea.Changed(ctx, idp.Owner, repository); err != nil {
		s.say.Problem("repository", fmt.Sprintf("hooks of the Git server do not hear of the change: %v", err))
	}
}
