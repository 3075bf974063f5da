// Package plan decides what becomes of external secrets, from their specs, their status, the Secrets that there are and the time: when they
// are refreshed, what is fetched and what is made of it, what is written and deleted, and what their conditions say.
//
// It is pure, and refuses to know stores and clusters. No error and no message of it has a value of a secret.
package plan

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha3"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
)

// What is written on objects, with the names of the upstream.
const (
	LabelManaged      = "reconcile.external-secrets.io/managed"
	LabelOwner        = "reconcile.external-secrets.io/created-by"
	AnnotationHash    = "reconcile.external-secrets.io/data-hash"
	AnnotationForce   = "force-sync"
	managed           = "true"
	lastApplied       = "kubectl.kubernetes.io/last-applied-configuration"
	defaultInterval   = time.Hour
	shortestInterval  = time.Second
	maxInterval       = 365 * 24 * time.Hour
	versionHashLength = 16
)

// Version identifies what an object declares: its generation, its labels and its annotations, since a change of these is a request.
func Version(o metav1.Object) string {
	h := sha256.New()
	for _, set := range []map[string]string{o.GetAnnotations(), o.GetLabels()} {
		write(h.Write, []byte{})
		for _, key := range slices.Sorted(maps.Keys(set)) {
			if key != lastApplied && key != AnnotationForce {
				write(h.Write, []byte(key), []byte(set[key]))
			}
		}
	}
	version := fmt.Sprintf("%d-%s", o.GetGeneration(), hex.EncodeToString(h.Sum(nil))[:versionHashLength])
	if token := o.GetAnnotations()[AnnotationForce]; token != "" {
		return version + "-" + requestOf(token)
	}
	return version
}

// requestOf is a request by annotation, as versions name it.
func requestOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])[:versionHashLength]
}

func write(to func([]byte) (int, error), parts ...[]byte) {
	for _, part := range parts {
		_, _ = to(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		_, _ = to(part)
	}
}

// Interval reads how often an object is refreshed; zero is never again.
func Interval(text string) (time.Duration, error) {
	if text == "" {
		return defaultInterval, nil
	}
	if text == "0" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("refreshInterval: %q is not a duration such as 1h or 10m", text)
	}
	if d <= 0 {
		return 0, nil
	}
	return min(max(d, shortestInterval), maxInterval), nil
}

// Refresh reports whether an ExternalSecret is to be refreshed now, and after how long it is otherwise; zero is only after a change. There is no
// target where the Secret is missing.
func Refresh(es *esv1.ExternalSecret, target *corev1.Secret, now time.Time) (due bool, after time.Duration, err error) {
	interval, err := Interval(es.Spec.RefreshInterval)
	if err != nil {
		return false, 0, err
	}
	last := es.Status.RefreshTime.Time
	changed := es.Status.SyncedResourceVersion != Version(es)
	never := last.IsZero()
	if Forced(es) {
		return true, 0, nil
	}
	valid := intact(es, target)
	switch es.Spec.RefreshPolicy {
	case esv1.RefreshCreatedOnce:
		return never || es.Status.SyncedResourceVersion == "" || !valid, 0, nil
	case esv1.RefreshOnChange:
		return never || changed || !valid, 0, nil
	case "", esv1.RefreshPeriodic:
	default:
		return false, 0, fmt.Errorf("refreshPolicy: %q is not one of Periodic, CreatedOnce, OnChange", es.Spec.RefreshPolicy)
	}
	if interval == 0 {
		return es.Status.SyncedResourceVersion == "" || never || !valid, 0, nil
	}
	elapsed := now.Sub(last)
	if never || changed || !valid || elapsed < 0 || elapsed >= interval {
		return true, 0, nil
	}
	return false, interval - elapsed, nil
}

// Forced reports whether a request by annotation has not been answered. It counts where the interval says never, too.
func Forced(es *esv1.ExternalSecret) bool {
	token := es.Annotations[AnnotationForce]
	return token != "" && !strings.HasSuffix(es.Status.SyncedResourceVersion, "-"+requestOf(token))
}

// intact reports whether the Secret of an ExternalSecret needs no repair before the next refresh: one that was orphaned is left to others until then.
func intact(es *esv1.ExternalSecret, target *corev1.Secret) bool {
	switch es.Spec.Target.CreationPolicy {
	case esv1.CreateNone, esv1.CreateOrphan:
		return true
	}
	return Valid(target, salt(es)) || Valid(target, string(es.UID))
}

// salt is that of the hash of a Secret. All that merge into one Secret have the same: what one has written is no change by another manager to the others.
func salt(es *esv1.ExternalSecret) string {
	if merges(es) {
		return es.Namespace + "/" + TargetName(es)
	}
	return string(es.UID)
}

func merges(es *esv1.ExternalSecret) bool {
	policy := es.Spec.Target.CreationPolicy
	return policy == esv1.CreateMerge || policy == esv1.CreateOrMerge
}

// Valid reports whether a Secret is as it was written: it is there, it is marked, and its data have not been changed.
func Valid(s *corev1.Secret, salt string) bool {
	if s == nil || s.Labels[LabelManaged] != managed {
		return false
	}
	written := s.Annotations[AnnotationHash]
	return Same(written, Hash(s.Data, salt)) || Same(written, upstreamHash(s.Data))
}

// upstreamHash is what the upstream writes as the hash of data. What it has written is left alone until it is due: a generator would make
// another value.
func upstreamHash(data map[string][]byte) string {
	sum := sha3.Sum224(fmt.Appendf(nil, "%+v", data))
	return hex.EncodeToString(sum[:])
}

// Hash is of the data of a Secret. Its salt keeps equal data of different owners from being known as such.
func Hash(data map[string][]byte, salt string) string {
	h := hmac.New(sha256.New, []byte(salt))
	for _, key := range slices.Sorted(maps.Keys(data)) {
		write(h.Write, []byte(key), data[key])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Same compares in a time that does not depend on what is equal.
func Same(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }

// SameData compares data likewise.
func SameData(a, b map[string][]byte) bool {
	const salt = "compared"
	return Same(Hash(a, salt), Hash(b, salt))
}
