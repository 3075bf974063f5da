package v1alpha1

// Config configures a step: an object as JSON has it.
type Config map[string]any

// DeepCopyInto copies what JSON knows; other values, as descriptions in Go have them, are shared.
func (in Config) DeepCopyInto(out *Config) { *out = copyJSON(map[string]any(in)).(map[string]any) }

// DeepCopy is a copy.
func (in Config) DeepCopy() Config {
	if in == nil {
		return nil
	}
	var out Config
	in.DeepCopyInto(&out)
	return out
}

func copyJSON(value any) any {
	switch v := value.(type) {
	case map[string]any:
		c := make(map[string]any, len(v))
		for key, item := range v {
			c[key] = copyJSON(item)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, item := range v {
			c[i] = copyJSON(item)
		}
		return c
	default:
		return value
	}
}
