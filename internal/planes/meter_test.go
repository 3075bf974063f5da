package planes

import "testing"

func TestMeter(t *testing.T) {
	used := uint64(1000)
	m := &meter{inUse: func() uint64 { return used }}
	m.begin("a")
	m.begin("b")
	used = 1300
	if m.settle("a") || m.of("a") != 0 {
		t.Error("the first of a group was measured before the last")
	}
	if !m.settle("b") || m.of("a") != 150 || m.of("b") != 150 {
		t.Errorf("a takes %d, b takes %d", m.of("a"), m.of("b"))
	}
	m.begin("c")
	m.stopped()
	if m.settle("c") || m.of("c") != 0 {
		t.Errorf("c was measured while another stopped: %d", m.of("c"))
	}
	m.begin("a")
	used = 5000
	if m.settle("a") || m.of("a") != 150 {
		t.Errorf("a was measured right after another stopped: %d", m.of("a"))
	}
}
