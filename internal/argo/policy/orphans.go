package policy

// WatchesOrphans is true where spec.orphanedResources has objects watched that no Application has, and warns where
// that is a condition on the Applications, as it is by default.
func (p *Project) WatchesOrphans() (watches, warns bool) {
	o := p.Spec.OrphanedResources
	return o != nil, o != nil && (o.Warn == nil || *o.Warn)
}

// IgnoresOrphan is true for an object that no Application has and that nobody is to be told of: what Kubernetes makes
// in each namespace by itself, and what spec.orphanedResources.ignore names.
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

func orEmpty(pattern, text string) bool { return pattern == "" || matchesGlob(pattern, text) }

func matchesGlob(pattern, text string) bool {
	read, err := newPattern(pattern)
	return err == nil && !read.denies && read.matches(text)
}
