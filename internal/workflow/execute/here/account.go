package here

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/redaction"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// account is that with whose rights an execution acts, as the API server knows it.
func (x *execution) account() (string, error) {
	name := cmp.Or(x.run.Template.ServiceAccountName, x.run.Settings.ServiceAccountName, "default")
	return execute.User(x.of.Namespace, name)
}

// client acts as the account of an execution.
func (e *Executor) client(x *execution) (dynamic.Interface, error) {
	user, err := x.account()
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(e.Cluster)
	config.QPS, config.Burst = -1, -1
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client for %s: %w", user, err)
	}
	return client, nil
}

// refusals is how often a refused request is repeated before it counts as refused: a server that has just begun, or a role that
// was created with the workflow, needs a moment.
const refusals = 4

// patience decides whether something is tried again that failed, and when.
type patience struct{ failures, refused int }

// again is how long to wait before another attempt; false if the error is final.
func (p *patience) again(err error) (time.Duration, bool) {
	p.failures++
	wait := min(30*time.Second, 250*time.Millisecond<<min(p.failures-1, 7))
	if apierrors.IsForbidden(err) {
		p.refused++
		return wait, p.refused < refusals
	}
	return wait, apply.Transient(err)
}

// told is what a status may say of an error: of what concerns a Secret, only the reason, since a message may quote what was sent or read.
func told(target *target, err error) string {
	var own ownError
	if target == nil || !target.secret() || errors.As(err, &own) {
		return redaction.Text(err.Error())
	}
	reason := apierrors.ReasonForError(err)
	if reason == "" || apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		return redaction.Text(answered(err))
	}
	return fmt.Sprintf("%s: %s", target, reason)
}

// ownError is a message that quotes nothing.
type ownError string

func (e ownError) Error() string { return string(e) }

// transient is the end of an execution that another attempt may avoid without a change.
func transient(leaf plan.Leaf, is bool) plan.Leaf {
	leaf.Transient = is
	return leaf
}
