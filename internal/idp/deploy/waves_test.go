package deploy

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/runner"
)

func TestGate(t *testing.T) {
	now := time.Unix(1000, 0)
	var g gate
	if g.permits(0) {
		t.Error("a gate that has not begun permits a wave")
	}
	g.begin(1, now)
	g.begin(5, now)
	if !g.permits(1) || g.permits(2) {
		t.Error("the first wave is 1")
	}
	unready, ready := []runner.State{{Message: "starting"}}, []runner.State{{Ready: true}}
	if g.advance(2, unready, true, now) || g.advance(2, ready, false, now) {
		t.Error("it opens for units that are not ready, or unknown")
	}
	if !g.advance(2, ready, true, now) || !g.permits(2) || g.permits(3) {
		t.Error("it does not open for units that are ready")
	}
	if g.advance(3, unready, true, now) || g.advance(3, unready, true, now.Add(stillFor/2)) {
		t.Error("it opens while units may still change")
	}
	if g.advance(3, []runner.State{{Message: "almost"}}, true, now.Add(stillFor)) {
		t.Error("it opens although a unit has just changed")
	}
	if !g.advance(3, []runner.State{{Message: "almost"}}, true, now.Add(2*stillFor)) || !g.permits(3) {
		t.Error("it does not open although nothing changes")
	}
	if !g.advance(4, unready, true, now.Add(2*stillFor)) || !g.permits(4) {
		t.Error("what held one wave back holds the next one back, too")
	}
}
