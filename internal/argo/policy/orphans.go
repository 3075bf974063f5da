package policy

// WatchesOrphans is true where spec.orphanedResources has objects watched that no Application has, and warns where
// that is a condition on the Applications, as it is by default.
func (p *Project) WatchesOrphans() (watches, warns bool) {
	o := p.Spec.OrphanedResources
	return o != nil, o != nil && (o.Warn == nil || *o.Warn)
}

// IgnoresOrphan is true for an object without an Application that is not reported: what Kubernetes creates
// in each namespace, and what spec.orphanedResources.ignore names.
func (p *Project) IgnoresOrphan(o Object) bool {
	if o.Group == "" {
		switch {
		case o.Kind == "Service" && o.Namespace == "default" && o.Name == "kubernetes",
			o.Kind == "ServiceAccount" && o.Name == "default",
			o.Kind == "ConfigMap" && o.Name == "kube-root-ca.crt":
			return true
		}
	}
	if p.Spec.OrphanedResources == nil {
		return false
	}
	for _, item := range p.Spec.OrphanedResources.Ignore {
		if orEmpty(item.Kind, o.Kind) && matchesGlob(item.Group, o.Group) && orEmpty(item.Name, o.Name) {
			return true
		}
	}
	return false
}

// Resident is an object of a namespace, as far as it matters for orphans.
type Resident struct {
	Object
	// UID is its own; Owners are those of what owns it.
	UID    string
	Owners []string
	// Taken is set for what an Application has.
	Taken bool
}

// Orphans counts the objects of a namespace that no Application has and that the project permits, together with what they
// own: nothing that is owned counts on its own.
func (p *Project) Orphans(all []Resident) int {
	below, services := map[string][]Resident{}, map[string]string{}
	for _, r := range all {
		if r.Group == "" && r.Kind == "Service" {
			services[r.Name] = r.UID
		}
	}
	var next []Resident
	for _, r := range all {
		if service := services[r.Name]; service != "" && len(r.Owners) == 0 && r.Group == "" && r.Kind == "Endpoints" {
			// Kubernetes names no owner of them.
			r.Owners = []string{service}
		}
		for _, owner := range r.Owners {
			below[owner] = append(below[owner], r)
		}
		if len(r.Owners) == 0 && p.PermitsKind(r.Object) == nil && !p.IgnoresOrphan(r.Object) {
			next = append(next, r)
		}
	}
	counted := map[string]bool{}
	for len(next) > 0 {
		r := next[0]
		next = next[1:]
		if r.Taken || counted[r.UID] {
			continue
		}
		counted[r.UID] = true
		next = append(next, below[r.UID]...)
	}
	return len(counted)
}

func orEmpty(pattern, text string) bool { return pattern == "" || matchesGlob(pattern, text) }

func matchesGlob(pattern, text string) bool {
	read, err := newPattern(pattern)
	return err == nil && !read.denies && read.matches(text)
}
