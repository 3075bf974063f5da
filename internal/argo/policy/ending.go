package policy

import (
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// Ending is why an operation ended.
type Ending int

// The ways in which an operation ends.
const (
	// EndedByItself is one that came to its end, whatever that was.
	EndedByItself Ending = iota
	// EndedByTermination is one that a person, a deletion or a time limit ended: it is not tried again.
	EndedByTermination
	// EndedByWindow is one that a sync window stopped: it is tried again when the window permits it.
	EndedByWindow
	// EndedByMove is one whose Application went to another cluster meanwhile: there, nothing was tried yet.
	EndedByMove
)

// Terminated begins the message of an operation that was terminated, blockedByWindow that of one that a window stopped.
// Moved is that of one whose Application went to another cluster.
const (
	Terminated      = "Operation terminated"
	Moved           = "the cluster of the Application is another one by now"
	blockedByWindow = "Sync operation blocked by sync window"
)

// EndingOf is how the last operation of a status ended. It reads the message: the status has no other field for that, has
// to stay as Argo CD writes it, and is all that survives a restart. Nothing else reads the message.
func EndingOf(state *v1alpha1.OperationState) Ending {
	switch {
	case state == nil:
		return EndedByItself
	case strings.HasPrefix(state.Message, Terminated):
		return EndedByTermination
	case state.Phase == v1alpha1.OperationFailed && strings.HasPrefix(state.Message, blockedByWindow):
		return EndedByWindow
	case state.Phase == v1alpha1.OperationFailed && state.Message == Moved:
		return EndedByMove
	default:
		return EndedByItself
	}
}
