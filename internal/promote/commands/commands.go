// Package commands is what commands of people know of promotions: the columns of tables, whether an object is ready, and how a Freight is promoted to a
// Stage. It decides nothing of its own: where Freight may go is decided by the room plan, and promotions are carried out by what serves them.
package commands

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/promote/plan"
)

// Verbs are what commands ask of the dialect.
type Verbs struct{}

func kind(name string) schema.GroupKind {
	return schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: name}
}

// Columns are what tables say of an object beside its name.
func (Verbs) Columns(gk schema.GroupKind) (titles []string, whole bool) {
	switch gk {
	case kind(v1alpha1.WarehouseKind):
		return []string{"FOLLOWS", "FREIGHT"}, false
	case kind(v1alpha1.FreightKind):
		return []string{"ALIAS", "FROM", "CONTENTS", "IN", "VERIFIED IN"}, true
	case kind(v1alpha1.StageKind):
		return []string{"FREIGHT", "HEALTH", "PROMOTION", "AUTOMATIC"}, false
	case kind(v1alpha1.PromotionKind):
		return []string{"STAGE", "FREIGHT", "PHASE", "STEP", "MESSAGE"}, true
	}
	return nil, false
}

// Row are the values of the columns.
func (Verbs) Row(u *unstructured.Unstructured) []string {
	switch u.GetKind() {
	case v1alpha1.WarehouseKind:
		return row(u, warehouseRow)
	case v1alpha1.FreightKind:
		return row(u, freightRow)
	case v1alpha1.StageKind:
		return row(u, stageRow)
	default:
		return row(u, promotionRow)
	}
}

// row reads an object. Of one that has another form than the kind, the table says that.
func row[T any, P declared.Object[T]](u *unstructured.Unstructured, of func(P) []string) []string {
	o, err := declared.Read[T](u)
	if err != nil {
		return []string{"unreadable: " + oneLine(err.Error())}
	}
	return of(o)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Conventions are those of the field for all kinds but Promotions and Freight.
var _ interface {
	dialect.Tabular
	dialect.Stating
} = Verbs{}

// State is how an object stands. A Promotion is ready when it succeeded, a Freight always.
func (Verbs) State(u *unstructured.Unstructured) dialect.State {
	s := dialect.Conventional(u)
	switch u.GetKind() {
	case v1alpha1.FreightKind:
		s.Static = "made once"
	case v1alpha1.PromotionKind:
		phase := v1alpha1.PromotionPhase(dialect.Text(u, "status", "phase"))
		s.Said, s.Current, s.Reason, s.Message = true, true, string(phase), dialect.Text(u, "status", "message")
		s.Ready, s.Moving = "False", !plan.Terminal(phase)
		if phase == v1alpha1.PromotionSucceeded {
			s.Ready = "True"
		}
		if s.Message == "" {
			s.Message = string(phase)
		}
	}
	return s
}
