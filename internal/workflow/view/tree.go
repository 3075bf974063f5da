package view

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/fields"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
	"github.com/headgate-dev/headgate/internal/workflow/request"
)

// symbols are what stands for the phases of nodes.
var symbols = map[v1alpha1.NodePhase]string{
	v1alpha1.NodePending: "◷", v1alpha1.NodeRunning: "●", v1alpha1.NodeSucceeded: "✔", v1alpha1.NodeSkipped: "○",
	v1alpha1.NodeOmitted: "○", v1alpha1.NodeFailed: "✖", v1alpha1.NodeError: "⚠",
}

// Symbol stands for how far a node got.
func Symbol(node *v1alpha1.NodeStatus) string {
	if waits(node) {
		return "ǁ"
	}
	return cmp.Or(symbols[node.Phase], symbols[v1alpha1.NodePending])
}

// Branch is one line of a tree.
type Branch struct {
	// Step is the name of the node, with the lines of the tree and a symbol before it.
	Step string
	// Template is what it executes, Pod is the name of its pod or process.
	Template, Pod string
	// Duration is how long that took.
	Duration string
	// Message says why it is in its phase, Artifacts are the names of those that it has left, Host is the machine.
	Message, Artifacts, Host string
}

// Tree is the tree of the nodes of a workflow and that of its exit handler. Without a selector, it is all nodes but those that were
// omitted and those that only group others.
func Tree(wf *v1alpha1.Workflow, selector fields.Selector, now time.Time) []Branch {
	if _, begun := wf.Status.Nodes[wf.Name]; !begun {
		return nil
	}
	t := &tree{wf: wf, selector: selector, now: now, below: below(wf), seen: map[string]bool{}}
	t.draw(wf.Name, " ", " ")
	t.draw(plan.NodeID(wf.Name, wf.Name+".onExit"), " ", " ")
	for _, id := range t.below[""] {
		t.draw(id, " ", " ") // hooks of the workflow
	}
	return t.branches
}

// tree draws the nodes of one workflow.
type tree struct {
	wf       *v1alpha1.Workflow
	selector fields.Selector
	now      time.Time
	// below are the members of each node in their order, and under an empty ID the nodes that are part of none.
	below    map[string][]string
	seen     map[string]bool
	branches []Branch
}

// below finds what each node is a part of: groups of steps and retries name their members, and all others name the steps or graph that
// they are in.
func below(wf *v1alpha1.Workflow) map[string][]string {
	nodes := wf.Status.Nodes
	parents := map[string]string{}
	for id, node := range nodes {
		parents[id] = node.BoundaryID
	}
	for id, node := range nodes {
		if node.Type != v1alpha1.NodeTypeStepGroup && node.Type != v1alpha1.NodeTypeRetry {
			continue
		}
		for _, child := range node.Children {
			if strings.HasPrefix(nodes[child].Name, node.Name) {
				parents[child] = id
			}
		}
	}
	all := map[string][]string{}
	for id, parent := range parents {
		if nodes[id].Type != v1alpha1.NodeTypeTaskGroup {
			all[parent] = append(all[parent], id)
		}
	}
	turns := turnsOf(wf)
	for _, ids := range all {
		slices.SortFunc(ids, func(a, b string) int {
			return cmp.Or(nodes[a].StartedAt.Compare(nodes[b].StartedAt.Time), cmp.Compare(turns[a], turns[b]), byName(nodes[a].Name, nodes[b].Name))
		})
	}
	return all
}

// turnsOf are how many nodes each one comes after, at the most: times are in seconds, and much happens in one.
func turnsOf(wf *v1alpha1.Workflow) map[string]int {
	turns := map[string]int{}
	level := []string{}
	for id, node := range wf.Status.Nodes {
		if node.BoundaryID == "" {
			level = append(level, id)
		}
	}
	for n := 1; len(level) > 0 && n <= len(wf.Status.Nodes); n++ {
		var next []string
		for _, id := range level {
			turns[id] = n
			next = append(next, wf.Status.Nodes[id].Children...)
		}
		slices.Sort(next)
		level = slices.Compact(next)
	}
	return turns
}

// byName orders names, and members of a loop and attempts by their number.
func byName(a, b string) int {
	indexA, indexB := index(a), index(b)
	if indexA >= 0 && indexB >= 0 && indexA != indexB {
		return cmp.Compare(indexA, indexB)
	}
	return cmp.Compare(a, b)
}

// number is the index in the name of a group of steps, of an attempt and of a member of a loop.
var number = regexp.MustCompile(`[(\[](\d+)(:.*)?[)\]]$`)

func index(name string) int {
	found := number.FindStringSubmatch(name)
	if found == nil {
		return -1
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		return -1
	}
	return n
}

// draw draws a node and its members. first stands before it, rest before what follows.
func (t *tree) draw(id, first, rest string) {
	node, exists := t.wf.Status.Nodes[id]
	if !exists || t.seen[id] {
		return // anyone who can write a status can make nodes that are part of themselves
	}
	t.seen[id] = true
	shown := t.shows(&node, len(t.below[id]))
	members := slices.DeleteFunc(slices.Clone(t.below[id]), func(member string) bool {
		node := t.wf.Status.Nodes[member]
		return len(t.below[member]) == 0 && !t.shows(&node, 0)
	})
	if shown {
		t.branches = append(t.branches, t.branch(&node, first))
	}
	for i, member := range members {
		line, indent := "", ""
		switch last := i == len(members)-1; {
		case shown && last:
			line, indent = "└─", "  "
		case shown:
			line, indent = "├─", "│ "
		case node.Type == v1alpha1.NodeTypeStepGroup:
			line, indent = inGroup(i, len(members))
		}
		begin := rest
		if !shown && i == 0 {
			begin = first
		}
		t.draw(member, begin+line, rest+indent)
	}
}

// inGroup are the lines before a member of a group of steps, which has none for itself.
func inGroup(i, n int) (line, indent string) {
	switch {
	case n == 1:
		return "──", "  "
	case i == 0:
		return "┬─", "│ "
	case i == n-1:
		return "└─", "  "
	default:
		return "├─", "│ "
	}
}

// shows reports whether a node has a line.
func (t *tree) shows(node *v1alpha1.NodeStatus, members int) bool {
	switch {
	case node.Type == v1alpha1.NodeTypeStepGroup, node.Type == v1alpha1.NodeTypeRetry && members == 1:
		return false
	case node.Type == v1alpha1.NodeTypeSkipped && node.Phase == v1alpha1.NodeOmitted && t.selector == nil:
		return false
	default:
		return t.selector == nil || request.Matches(t.selector, node)
	}
}

func (t *tree) branch(node *v1alpha1.NodeStatus, prefix string) Branch {
	b := Branch{
		Step: prefix + Symbol(node) + " " + cmp.Or(node.DisplayName, node.Name), Template: node.TemplateName, Message: oneLine(node.Message), Host: node.HostNodeName,
	}
	if ref := node.TemplateRef; ref != nil {
		b.Template = ref.Name + "/" + ref.Template
	}
	if node.Outputs != nil {
		var names []string
		for _, a := range node.Outputs.Artifacts {
			names = append(names, a.Name)
		}
		b.Artifacts = strings.Join(names, ",")
	}
	if node.Type == v1alpha1.NodeTypePod {
		b.Pod = plan.PodName(t.wf.Name, request.TemplateOf(node), node.Name)
		b.Duration = took(node.StartedAt.Time, node.FinishedAt.Time, t.now)
	}
	return b
}
