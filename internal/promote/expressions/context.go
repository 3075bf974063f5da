package expressions

// ctx is what expressions know of the Promotion that they belong to. It is a type, and no map, so that a name that is not in it is an error.
type ctx struct {
	Project   string  `expr:"project"       json:"project"       yaml:"project"`
	Stage     string  `expr:"stage"         json:"stage"         yaml:"stage"`
	Promotion string  `expr:"promotion"     json:"promotion"     yaml:"promotion"`
	Freight   freight `expr:"targetFreight" json:"targetFreight" yaml:"targetFreight"`
	Meta      meta    `expr:"meta"          json:"meta"          yaml:"meta"`
	// UI is empty: no user interface of Kargo is served here.
	UI string `expr:"uiBaseUrl" json:"uiBaseUrl" yaml:"uiBaseUrl"`
}

type freight struct {
	Name   string `expr:"name"   json:"name"   yaml:"name"`
	Alias  string `expr:"alias"  json:"alias"  yaml:"alias"`
	Origin origin `expr:"origin" json:"origin" yaml:"origin"`
}

type origin struct {
	Kind string `expr:"kind" json:"kind" yaml:"kind"`
	Name string `expr:"name" json:"name" yaml:"name"`
}

type meta struct {
	Promotion promotion `expr:"promotion" json:"promotion" yaml:"promotion"`
	Step      step      `expr:"step"      json:"step"      yaml:"step"`
}

type promotion struct {
	Actor    string `expr:"actor"    json:"actor"    yaml:"actor"`
	Rollback bool   `expr:"rollback" json:"rollback" yaml:"rollback"`
}

type step struct {
	Alias string `expr:"alias" json:"alias" yaml:"alias"`
}

func (s *Scope) context() ctx {
	return ctx{
		Project: s.Project, Stage: s.Stage, Promotion: s.Promotion,
		Freight: freight{Name: s.Target.Name, Alias: s.TargetAlias, Origin: origin{string(s.Target.Origin.Kind), s.Target.Origin.Name}},
		Meta:    meta{promotion{s.Actor, s.Rollback}, step{s.Alias}},
	}
}
