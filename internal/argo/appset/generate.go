package appset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/source"
)

// Facts is where generators get what they make parameters from.
type Facts interface {
	// Clusters are those that have a Secret, and that of the installation, without one, unless it is switched off.
	Clusters(ctx context.Context) ([]settings.Cluster, error)
	// Tree is what a repository holds at a revision, and what that is resolved to. The project is empty where it is
	// unknown before parameters are known.
	Tree(ctx context.Context, repoURL, revision, project string) (*source.Tree, string, error)
}

// Options are settings of the installation that generators read.
type Options struct {
	// HiddenDirectories has generators see directories that begin with a dot.
	HiddenDirectories bool
	// NewGlobbing has "*" in patterns of files end at a slash, and "**" mean directories.
	NewGlobbing bool
	// Check, where it is given, says what is wrong with an Application that is generated, such as a project or a
	// cluster that is not there.
	Check func(*unstructured.Unstructured) error
}

// Generated is what the generators and the template of a set give.
type Generated struct {
	// Applications, in the order in which generators gave them.
	Applications []*unstructured.Unstructured
	// Origins say where each Application comes from, by its name.
	Origins map[string]string
	// Problems are Applications that cannot be.
	Problems []Problem
	// Repositories are what was read.
	Repositories []Repository
	// Clusters says that clusters were requested.
	Clusters bool
	// Yields is how many sets of parameters each generator gave, by a digest of what it says.
	Yields map[string]int
}

// Problem is an Application that cannot be. It stops no other, and nothing is deleted for it.
type Problem struct {
	// Name of the Application, empty where it has none.
	Name string
	// Origins say which sets of parameters it comes from.
	Origins []string
	Message string
	// Unnamed says that the name itself is bad, so that it is unknown which Application was meant.
	Unnamed bool
}

// Error says what is wrong.
func (p Problem) Error() string { return p.Message }

// Repository is one that was read, to be followed.
type Repository struct {
	URL, Revision string
	// Resolved is the commit.
	Resolved string
	// Every is how often a generator wants to be evaluated, zero if none says so.
	Every time.Duration
}

// at is what tells repositories apart.
type at struct{ url, revision string }

// ErrNotServed is that a generator is not served.
var ErrNotServed = errors.New("this generator is not supported; nothing of the ApplicationSet is changed")

// Generate makes the Applications of a set; one without generators has none. After an error nothing may be created, changed or deleted; errors of the
// facts are wrapped.
func Generate(ctx context.Context, set *Set, facts Facts, options Options) (Generated, error) {
	made, err := newGeneration(ctx, set, facts, options)
	if err != nil {
		return Generated{}, err
	}
	for i, raw := range set.generators {
		if err := made.generator(raw); err != nil {
			return Generated{}, within(fmt.Sprintf("spec.generators[%d]", i), err)
		}
	}
	slices.SortFunc(made.out.Repositories, func(a, b Repository) int {
		return strings.Compare(a.URL+" "+a.Revision, b.URL+" "+b.Revision)
	})
	return made.out, nil
}

// generation is the work of one pass.
type generation struct {
	ctx     context.Context
	set     *Set
	facts   Facts
	options Options
	engine  engine
	out     Generated
	trees   map[at]*source.Tree
	// count is how many sets of parameters there are already.
	count int
}

func newGeneration(ctx context.Context, set *Set, facts Facts, options Options) (*generation, error) {
	e, err := newEngine(ctx, set)
	if err != nil {
		return nil, err
	}
	if patch := set.Spec.TemplatePatch; patch != nil && !set.Spec.GoTemplate {
		if err := notForPlain(*patch); err != nil {
			return nil, within("spec.templatePatch", err)
		}
	}
	return &generation{
		ctx: ctx, set: set, facts: facts, options: options, engine: e, trees: map[at]*source.Tree{},
		out: Generated{Origins: map[string]string{}, Yields: map[string]int{}},
	}, nil
}

// generator makes the Applications of one generator.
func (g *generation) generator(raw map[string]any) error {
	kinds, err := kindsOf(raw)
	if err != nil {
		return err
	}
	yield := 0
	for _, kind := range kinds {
		sets, err := g.sets(kind, raw, 0)
		if err != nil {
			return err
		}
		body, _ := raw[kind].(map[string]any)
		over, _ := body["template"].(map[string]any)
		template := underlay(over, g.set.template)
		for _, set := range sets {
			if err := g.application(template, set); err != nil {
				return err
			}
		}
		yield += len(sets)
	}
	g.out.Yields[digestOf(raw)] += yield
	return nil
}

// digestOf is the same for the same text, and short.
func digestOf(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		data = fmt.Append(nil, value)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6])
}

// application makes one Application, or a Problem of it.
func (g *generation) application(template map[string]any, set parameters) error {
	app, err := g.render(template, own(set.values))
	if err != nil {
		return fmt.Errorf("with %s: %w", set.origin, err)
	}
	name := app.GetName()
	if first, twice := g.out.Origins[name]; twice {
		g.problem(Problem{Name: name, Origins: []string{first, set.origin}, Message: fmt.Sprintf(
			"Application %q is generated twice, from %s and from %s; the first one is kept: make the names differ, with more of the path for example",
			name, first, set.origin)})
		return nil
	}
	if why := validName(name, g.set.Spec.GoTemplate); why != "" {
		g.problem(Problem{Name: name, Origins: []string{set.origin}, Unnamed: true, Message: fmt.Sprintf(
			"the Application from %s has the name %q: %s", set.origin, name, why)})
		return nil
	}
	g.out.Origins[name] = set.origin
	if err := g.valid(app); err != nil {
		g.problem(Problem{Name: name, Origins: []string{set.origin}, Message: fmt.Sprintf("Application %q from %s: %s", name, set.origin, err)})
		return nil
	}
	g.out.Applications = append(g.out.Applications, app)
	return nil
}

func (g *generation) problem(p Problem) { g.out.Problems = append(g.out.Problems, p) }

// maxSets bounds how many sets of parameters there are in one pass.
const maxSets = 50_000

// enough refuses to go on where generators multiply.
func (g *generation) enough(more int) error {
	if g.count += more; g.count > maxSets {
		return fmt.Errorf("more than %d sets of parameters", maxSets)
	}
	return g.ctx.Err()
}
