package steps

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"go.yaml.in/yaml/v3"
)

type parseConfig struct {
	Path    string   `json:"path"`
	Outputs []output `json:"outputs"`
}

type output struct {
	Name           string `json:"name"`
	FromExpression string `json:"fromExpression"`
}

// yamlParse reads values of a file into outputs by expressions, which see the fields of the document by their names.
func (s *step) yamlParse(_ context.Context, data []byte) (map[string]any, error) {
	return s.parse(data, func(content []byte) (any, error) {
		var document any
		err := yaml.NewDecoder(bytes.NewReader(content)).Decode(&document)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return document, err
	})
}

// jsonParse is yamlParse for a file of JSON.
func (s *step) jsonParse(_ context.Context, data []byte) (map[string]any, error) {
	return s.parse(data, func(content []byte) (any, error) {
		var document any
		err := json.Unmarshal(content, &document)
		return document, err
	})
}

func (s *step) parse(data []byte, read func(content []byte) (any, error)) (map[string]any, error) {
	config, err := decode[parseConfig](data)
	if err != nil {
		return nil, err
	}
	at, err := clean("path", config.Path)
	if err != nil {
		return nil, err
	}
	if len(config.Outputs) == 0 {
		return nil, fail("outputs: there are none")
	}
	content, err := s.read(at)
	if err != nil {
		return nil, err
	}
	document, err := read(content)
	if err != nil {
		return nil, fail("reading %q: %w", at, err)
	}
	names, is := document.(map[string]any)
	if !is {
		return nil, fail("reading %q: it is not an object", at)
	}
	outputs, err := outputsOf(config.Outputs, names)
	if err != nil {
		return nil, err
	}
	for i, one := range config.Outputs {
		if outputs[one.Name] == nil {
			return nil, fail("outputs[%d].fromExpression: %q of %q is not there", i, one.FromExpression, at)
		}
	}
	return outputs, nil
}
