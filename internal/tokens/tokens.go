// Package tokens follows Secrets of which one value is needed, such as the one that verifies a sender of requests, and notifies those who need it when
// it changes. It keeps that value in memory and nothing else of the Secret, and refuses to say it in an error.
package tokens

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/declared"
)

var secretResource = corev1.SchemeGroupVersion.WithResource("secrets")

// Ref names a value of a Secret.
type Ref struct {
	Namespace, Name, Key string
	// Field is the one of an object that names the Secret; messages begin with it.
	Field string
}

func (r Ref) secret() string { return fmt.Sprintf("%s: Secret %q", r.Field, r.Namespace+"/"+r.Name) }

// Keeper follows values, each for the users that need it. It is safe for concurrent use.
type Keeper[User comparable] struct {
	ctx  context.Context
	home *cluster.Cluster
	// changed is called with those whose value may have changed. It must not block.
	changed func(User)

	mu   sync.Mutex
	held map[Ref]*heldToken[User]
	of   map[User]Ref
}

type heldToken[User comparable] struct {
	stop  context.CancelFunc
	users map[User]bool
	// known is set when the cluster has answered; until then nothing is said.
	known bool
	// missing says why there is no token, if there is none.
	missing, value string
}

// New returns a Keeper that follows Secrets of a cluster until ctx ends.
func New[User comparable](ctx context.Context, home *cluster.Cluster, changed func(User)) *Keeper[User] {
	return &Keeper[User]{ctx: ctx, home: home, changed: changed, held: map[Ref]*heldToken[User]{}, of: map[User]Ref{}}
}

// Value is the one that a user needs, or says why there is none. While it is unknown it is neither. A user needs one value at a time.
func (k *Keeper[User]) Value(user User, ref Ref) (value, missing string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if before, used := k.of[user]; used && before != ref {
		k.letGo(user)
	}
	k.of[user] = ref
	h, held := k.held[ref]
	if !held {
		ctx, stop := context.WithCancel(k.ctx)
		h = &heldToken[User]{stop: stop, users: map[User]bool{}}
		k.held[ref] = h
		go k.follow(ctx, ref, h)
	}
	h.users[user] = true
	if !h.known {
		return "", ""
	}
	return h.value, h.missing
}

// Forget ends what is held for a user alone.
func (k *Keeper[User]) Forget(user User) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.letGo(user)
}

// letGo is Forget for a caller that holds the lock.
func (k *Keeper[User]) letGo(user User) {
	ref, used := k.of[user]
	if !used {
		return
	}
	delete(k.of, user)
	h := k.held[ref]
	delete(h.users, user)
	if len(h.users) == 0 {
		h.stop()
		delete(k.held, ref)
	}
}

// follow keeps a value as it is in its Secret, until ctx ends.
func (k *Keeper[User]) follow(ctx context.Context, ref Ref, h *heldToken[User]) {
	gone := ref.secret() + " does not exist"
	// The first list is handed over before the watch is said to be in: what is there then is known.
	k.set(h, func() { h.missing = gone })
	err := k.home.WatchOne(ctx, secretResource, ref.Namespace, ref.Name, cluster.Sink{
		Put: func(u *unstructured.Unstructured) {
			value, missing := read(u, ref)
			k.set(h, func() { h.known, h.value, h.missing = true, value, missing })
		},
		Dropped: func(*unstructured.Unstructured) { k.set(h, func() { h.known, h.value, h.missing = true, "", gone }) },
	})
	switch {
	case ctx.Err() != nil:
	case err != nil:
		k.set(h, func() { h.known, h.value, h.missing = true, "", ref.secret()+": "+err.Error() })
	default:
		k.set(h, func() { h.known = true })
	}
}

// set changes what is held, and notifies its users.
func (k *Keeper[User]) set(h *heldToken[User], change func()) {
	k.mu.Lock()
	change()
	var users []User
	for user := range h.users {
		users = append(users, user)
	}
	k.mu.Unlock()
	for _, user := range users {
		k.changed(user)
	}
}

// read is the value that a Secret has, or says why it has none.
func read(u *unstructured.Unstructured, ref Ref) (value, missing string) {
	secret, err := declared.Read[corev1.Secret](u)
	if err != nil {
		return "", ref.secret() + " is invalid"
	}
	if len(secret.Data[ref.Key]) == 0 {
		return "", fmt.Sprintf("%s has no value for key %q", ref.secret(), ref.Key)
	}
	return string(secret.Data[ref.Key]), ""
}
