package receivers

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
)

var secretResource = corev1.SchemeGroupVersion.WithResource("secrets")

// tokenKey is where the Secret of a receiver has its token.
const tokenKey = "token"

// tokens follows the Secrets by which receivers are verified: of each one it keeps the token alone. It is safe
// for concurrent use.
type tokens struct {
	ctx  context.Context
	home *cluster.Cluster
	// changed is called with what is verified by a token that may have changed. It must not block.
	changed func(engine.UnitID)

	mu   sync.Mutex
	held map[types.NamespacedName]*heldToken
	of   map[engine.UnitID]types.NamespacedName
}

type heldToken struct {
	stop  context.CancelFunc
	users map[engine.UnitID]bool
	// known is set when the cluster has answered; until then nothing is said.
	known bool
	// missing says why there is no token, if there is none.
	missing, value string
}

func newTokens(ctx context.Context, home *cluster.Cluster, changed func(engine.UnitID)) *tokens {
	return &tokens{ctx: ctx, home: home, changed: changed, held: map[types.NamespacedName]*heldToken{}, of: map[engine.UnitID]types.NamespacedName{}}
}

// token is that of a Secret for a user; or why there is none. While it is unknown it is neither.
func (t *tokens) token(user engine.UnitID, secret types.NamespacedName) (value, missing string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if before, used := t.of[user]; used && before != secret {
		t.letGo(user)
	}
	t.of[user] = secret
	h, held := t.held[secret]
	if !held {
		ctx, stop := context.WithCancel(t.ctx)
		h = &heldToken{stop: stop, users: map[engine.UnitID]bool{}}
		t.held[secret] = h
		go t.follow(ctx, secret, h)
	}
	h.users[user] = true
	if !h.known {
		return "", ""
	}
	return h.value, h.missing
}

// forget ends what is held for a user alone.
func (t *tokens) forget(user engine.UnitID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.letGo(user)
}

// letGo is forget for a caller that holds the lock.
func (t *tokens) letGo(user engine.UnitID) {
	secret, used := t.of[user]
	if !used {
		return
	}
	delete(t.of, user)
	h := t.held[secret]
	delete(h.users, user)
	if len(h.users) == 0 {
		h.stop()
		delete(t.held, secret)
	}
}

// follow keeps a token as it is in its Secret, until ctx ends.
func (t *tokens) follow(ctx context.Context, secret types.NamespacedName, h *heldToken) {
	gone := fmt.Sprintf("spec.secretRef: Secret %q does not exist", secret.String())
	// The first list is handed over before the watch is said to be in: what is there then is known.
	t.set(h, func() { h.missing = gone })
	err := t.home.WatchOne(ctx, secretResource, secret.Namespace, secret.Name, cluster.Sink{
		Put: func(u *unstructured.Unstructured) {
			value, missing := tokenOf(u)
			t.set(h, func() { h.known, h.value, h.missing = true, value, missing })
		},
		Dropped: func(*unstructured.Unstructured) { t.set(h, func() { h.known, h.value, h.missing = true, "", gone }) },
	})
	switch {
	case ctx.Err() != nil:
	case err != nil:
		t.set(h, func() {
			h.known, h.value, h.missing = true, "", fmt.Sprintf("spec.secretRef: Secret %q: %s", secret.String(), err)
		})
	default:
		t.set(h, func() { h.known = true })
	}
}

// set changes what is held, and notifies its users.
func (t *tokens) set(h *heldToken, change func()) {
	t.mu.Lock()
	change()
	var users []engine.UnitID
	for user := range h.users {
		users = append(users, user)
	}
	t.mu.Unlock()
	for _, user := range users {
		t.changed(user)
	}
}

// tokenOf reads the token of a Secret, or says why it has none.
func tokenOf(u *unstructured.Unstructured) (value, missing string) {
	name := u.GetNamespace() + "/" + u.GetName()
	secret, err := declared.Read[corev1.Secret](u)
	if err != nil {
		return "", fmt.Sprintf("spec.secretRef: Secret %q is invalid", name)
	}
	if len(secret.Data[tokenKey]) == 0 {
		return "", fmt.Sprintf("spec.secretRef: Secret %q has no value for key %q", name, tokenKey)
	}
	return string(secret.Data[tokenKey]), ""
}
