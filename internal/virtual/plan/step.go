package plan

import (
	"crypto/sha256"
	"encoding/hex"
)

// Step is what is done next for a virtual cluster.
type Step int

const (
	// Rest does nothing: it is gone, or others keep it while it is deleted.
	Rest Step = iota
	// Keep sets the finalizer, before anything is made that outlives the object.
	Keep
	// Begin acquires the control plane.
	Begin
	// Supply writes the credentials and copies the Secrets.
	Supply
	// End deletes the Secrets and the state, and removes the finalizer.
	End
)

// Standing is how a virtual cluster stands.
type Standing struct {
	// Deleted is set once its deletion is requested, Kept while it has the finalizer.
	Deleted, Kept bool
	// Served is set while its control plane runs and is held.
	Served bool
}

// Next decides what is done next.
func Next(s Standing) Step {
	switch {
	case s.Deleted && s.Kept:
		return End
	case s.Deleted:
		return Rest
	case !s.Kept:
		return Keep
	case !s.Served:
		return Begin
	}
	return Supply
}

// shown is how much of the namespace and the name the name of a control plane shows, in bytes.
const shown = 24

// ControlPlane is the name of the control plane of the virtual cluster with this namespace and name: a DNS label that no other one has.
// Namespaces and names have no slash, so that the digest is of this pair only.
func ControlPlane(n Name) string {
	sum := sha256.Sum256([]byte(n.String()))
	text := []byte(n.Namespace + "-" + n.Name)
	text = text[:min(len(text), shown)]
	for i, c := range text {
		if c == '.' {
			text[i] = '-'
		}
	}
	return string(text) + "-" + hex.EncodeToString(sum[:8])
}

// AccessName is the name of the Secret with the credentials of a release.
func AccessName(release string) string { return secretPrefix + release }

// RegisteredName is the name of the Secret by which Argo CD knows a cluster.
func RegisteredName(cluster string) string { return clusterPrefix + cluster }

// ClusterSelector selects the Secrets by which Argo CD knows clusters.
const ClusterSelector = secretTypeLabel + "=" + clusterType
