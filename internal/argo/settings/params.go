package settings

// params reads argocd-cmd-params-cm.
func (r *reader) params() {
	s := r.settings
	r.list("application.namespaces", &s.Namespaces)
	r.flag("controller.diff.server.side", &s.Compare.ServerSide)
	r.seconds("controller.sync.timeout.seconds", &s.Controller.SyncTimeout)
	r.seconds("controller.self.heal.timeout.seconds", &s.Controller.SelfHeal.Fixed)
	r.seconds("controller.self.heal.backoff.timeout.seconds", &s.Controller.SelfHeal.Initial)
	r.number("controller.self.heal.backoff.factor", &s.Controller.SelfHeal.Factor)
	r.seconds("controller.self.heal.backoff.cap.seconds", &s.Controller.SelfHeal.Cap)
	r.flag("controller.resource.health.persist", &s.Controller.PersistHealth)
	r.seconds("controller.repo.error.grace.period.seconds", &s.Controller.SourceErrorGrace)
	r.seconds("controller.repo.server.timeout.seconds", &s.Controller.RenderTimeout)
	r.flag("reposerver.enable.git.submodule", &s.Fetching.GitSubmodules)
	r.duration("reposerver.git.request.timeout", &s.Fetching.GitTimeout)
	r.flag("reposerver.include.hidden.directories", &s.Fetching.HiddenDirectories)
	r.flag("reposerver.allow.oob.symlinks", &s.Fetching.OutOfBoundsSymlinks)
	r.appSets()
	r.classify(unservedParams())
	r.unknown()
}

func (r *reader) appSets() {
	const of = "applicationsetcontroller."
	a := &r.settings.AppSets
	r.choice(of+"policy", &a.Policy, "sync", "create-only", "create-update", "create-delete")
	r.flag(of+"enable.policy.override", &a.PolicyOverride)
	r.flag(of+"enable.progressive.syncs", &a.Progressive)
	r.flag(of+"enable.new.git.file.globbing", &a.NewGlobbing)
	r.flag(of+"dryrun", &a.DryRun)
	r.duration(of+"requeue.after", &a.Requeue)
	r.list(of+"namespaces", &a.Namespaces)
	r.flag(of+"enable.scm.providers", &a.SCMProviders)
	r.list(of+"allowed.scm.providers", &a.AllowedSCMProviders)
	r.flag(of+"enable.tokenref.strict.mode", &a.StrictTokens)
	r.list(of+"global.preserved.annotations", &a.PreservedAnnotations)
	r.list(of+"global.preserved.labels", &a.PreservedLabels)
	r.flag(of+"enable.git.submodule", &a.GitSubmodules)
	r.number(of+"status.max.resources.count", &a.MaxResources)
}
