package chart

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"sigs.k8s.io/yaml"
)

// Relock returns a Chart.lock that agrees with a Chart.yaml in which dependencies were set to versions, which have to be single ones and not ranges.
// Helm refuses to build the dependencies of a chart whose lock does not agree.
func Relock(declared, lock []byte, set []Dependency, now time.Time) ([]byte, error) {
	var locked chartv2.Lock
	if err := yaml.Unmarshal(lock, &locked); err != nil {
		return nil, fmt.Errorf("reading the lock: %w", err)
	}
	for _, one := range set {
		if _, err := semver.StrictNewVersion(strings.TrimPrefix(one.Version, "v")); err != nil {
			return nil, fmt.Errorf("version %q of %q is a range, and a lock has single versions", one.Version, one.Name)
		}
		for _, d := range locked.Dependencies {
			if d.Name == one.Name && d.Repository == one.Repository {
				d.Version = one.Version
			}
		}
	}
	var metadata chartv2.Metadata
	if err := yaml.Unmarshal(declared, &metadata); err != nil {
		return nil, fmt.Errorf("reading Chart.yaml: %w", err)
	}
	both, err := json.Marshal([2][]*chartv2.Dependency{metadata.Dependencies, locked.Dependencies})
	if err != nil {
		return nil, fmt.Errorf("computing the digest of the lock: %w", err)
	}
	locked.Digest, locked.Generated = fmt.Sprintf("sha256:%x", sha256.Sum256(both)), now.UTC()
	return yaml.Marshal(locked)
}
