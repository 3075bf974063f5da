package discover

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/promote/plan"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// Criteria reports whether Freight may be made of the best of what was found: whether the expression of spec.freightCreationCriteria is true, or there is
// none. The expression has the functions imageFrom(repoURL), commitFrom(repoURL) and chartFrom(repoURL[, name]), which give nil for what was not found.
func Criteria(expression string, found *v1alpha1.DiscoveredArtifacts) (bool, error) {
	expression = strings.TrimSpace(expression)
	if expression == "" || found == nil || len(found.Git)+len(found.Images)+len(found.Charts) == 0 {
		return true, nil
	}
	holds, err := truth(expression, map[string]any{
		"imageFrom":  best{found}.image,
		"commitFrom": best{found}.commit,
		"chartFrom":  best{found}.chart,
	})
	if err != nil {
		return false, fmt.Errorf("spec.freightCreationCriteria.expression: %w", err)
	}
	return holds, nil
}

// truth evaluates an expression in bounded time and memory. A result that is not true or false is read as Go reads that.
func truth(expression string, names map[string]any) (bool, error) {
	value, err := text.Evaluate(expression, text.NewScope(time.Now()), names)
	if err != nil {
		return false, err
	}
	if is, isBool := value.(bool); isBool {
		return is, nil
	}
	is, err := strconv.ParseBool(fmt.Sprintf("%v", value))
	if err != nil {
		return false, fmt.Errorf("the expression %.100q gives a %T, and has to give true or false", expression, value)
	}
	return is, nil
}

// best looks up what is best of a repository.
type best struct{ found *v1alpha1.DiscoveredArtifacts }

func (b best) image(arguments ...any) (any, error) {
	repo, _, err := named("imageFrom", arguments, 1)
	if err != nil {
		return nil, err
	}
	for _, result := range b.found.Images {
		if plan.NormalizeImage(result.RepoURL) == plan.NormalizeImage(repo) && len(result.References) > 0 {
			return result.References[0], nil
		}
	}
	return nil, nil
}

func (b best) commit(arguments ...any) (any, error) {
	repo, _, err := named("commitFrom", arguments, 1)
	if err != nil {
		return nil, err
	}
	for _, result := range b.found.Git {
		if plan.NormalizeGit(result.RepoURL) == plan.NormalizeGit(repo) && len(result.Commits) > 0 {
			return result.Commits[0], nil
		}
	}
	return nil, nil
}

func (b best) chart(arguments ...any) (any, error) {
	repo, chart, err := named("chartFrom", arguments, 2)
	if err != nil {
		return nil, err
	}
	for _, result := range b.found.Charts {
		if plan.NormalizeChart(result.RepoURL) == plan.NormalizeChart(repo) && (chart == "" || chart == result.Name) && len(result.Versions) > 0 {
			return v1alpha1.Chart{RepoURL: result.RepoURL, Name: result.Name, Version: result.Versions[0]}, nil
		}
	}
	return nil, nil
}

// named are the arguments of a function: one string, or up to two.
func named(function string, arguments []any, most int) (first, second string, err error) {
	if len(arguments) < 1 || len(arguments) > most {
		return "", "", fmt.Errorf("%s takes up to %d arguments and at least one, not %d", function, most, len(arguments))
	}
	values := [2]string{}
	for i, argument := range arguments {
		text, isText := argument.(string)
		if !isText {
			return "", "", fmt.Errorf("argument %d of %s has to be a string, not a %T", i+1, function, argument)
		}
		values[i] = text
	}
	return values[0], values[1], nil
}
