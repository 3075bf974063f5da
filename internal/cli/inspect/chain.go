package inspect

// answer is what "why" says, as a machine reads it.
type answer struct {
	// OK is set when what was requested is ready, or healthy.
	OK   bool      `json:"ok"`
	Says []*clause `json:"says"`
	// Try is the command that helps.
	Try string `json:"try,omitempty"`
}

// clause is one line of a chain of waits, and what it is because of.
type clause struct {
	Text    string    `json:"text"`
	Because []*clause `json:"because,omitempty"`
}

// chain gathers lines by their depth: one is below the last one before it that is less deep.
type chain struct {
	first []*clause
	// open are the last lines of each depth.
	open []*clause
}

func (c *chain) add(depth int, text string) {
	l := &clause{Text: text}
	if depth = min(depth, len(c.open)); depth == 0 {
		c.first = append(c.first, l)
	} else {
		above := c.open[depth-1]
		above.Because = append(above.Because, l)
	}
	c.open = append(c.open[:depth], l)
}
