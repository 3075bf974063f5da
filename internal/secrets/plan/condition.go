package plan

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
)

// maxText bounds the message of a condition, in bytes.
const maxText = 1024

// Condition sets the one condition of a kind. Its time is that of the last change of its status.
func Condition(all []esv1.Condition, kind string, ok bool, reason, text string, now time.Time) []esv1.Condition {
	status := corev1.ConditionFalse
	if ok {
		status = corev1.ConditionTrue
	}
	if len(text) > maxText {
		text = text[:maxText-3] + "..."
	}
	c := esv1.Condition{Type: kind, Status: status, Reason: reason, Message: text, LastTransitionTime: metav1.NewTime(now.Truncate(time.Second))}
	all = slices.Clone(all)
	at := slices.IndexFunc(all, func(o esv1.Condition) bool { return o.Type == kind })
	if at < 0 {
		return append(all, c)
	}
	if all[at].Status == c.Status {
		c.LastTransitionTime = all[at].LastTransitionTime
	}
	all[at] = c
	return all
}
