package settings

import "fmt"

// Problem is a value that is bad.
type Problem struct {
	// Object is its kind and its name.
	Object string
	Key    string
	// Value is empty where it is that of a Secret.
	Value  string
	Reason string
}

// Error names the object, the key, and what is wrong.
func (p *Problem) Error() string {
	if p.Value == "" {
		return fmt.Sprintf("%s: %s: %s", p.Object, p.Key, p.Reason)
	}
	return fmt.Sprintf("%s: %s: %q %s", p.Object, p.Key, p.Value, p.Reason)
}

// shown is how much of a value an error quotes.
const shown = 80

// problems are those of one reading.
type problems struct{ all []error }

func (p *problems) add(object, key, value, reason string) {
	if len(value) > shown {
		value = value[:shown] + "..."
	}
	p.all = append(p.all, &Problem{Object: object, Key: key, Value: value, Reason: reason})
}
