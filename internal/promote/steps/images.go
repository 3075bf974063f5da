package steps

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Image is one that the Stage will have.
type Image struct{ RepoURL, Tag, Digest string }

type setImageConfig struct {
	Path   string     `json:"path"`
	Images []imageSet `json:"images"`
}

type imageSet struct {
	Image   string `json:"image"`
	Tag     string `json:"tag"`
	Digest  string `json:"digest"`
	NewName string `json:"newName"`
}

// kustomizeSetImage sets images of a kustomization, those of the Freight where the configuration names none.
func (s *step) kustomizeSetImage(_ context.Context, data []byte) (map[string]any, error) {
	config, err := decode[setImageConfig](data)
	if err != nil {
		return nil, err
	}
	at, err := clean("path", config.Path)
	if err != nil {
		return nil, err
	}
	if len(config.Images) == 0 {
		if config.Images, err = s.freightImages(); err != nil {
			return nil, err
		}
	}
	for i, image := range config.Images {
		switch {
		case image.Image == "":
			return nil, fail("images[%d].image: it is empty", i)
		case image.Tag != "" && image.Digest != "":
			return nil, fail("images[%d]: only one of tag and digest may be set", i)
		case image.Tag == "" && image.Digest == "" && image.NewName == "":
			return nil, fail("images[%d]: one of tag, digest and newName has to be set", i)
		}
	}
	file, content, err := s.kustomization(at)
	if err != nil {
		return nil, err
	}
	if content, err = setImages(content, config.Images); err != nil {
		return nil, fail("path: %q: %w", file, err)
	}
	var lines []string
	for _, image := range config.Images {
		lines = append(lines, "- "+reference(image))
	}
	return map[string]any{"commitMessage": fmt.Sprintf("Updated %s to use new images\n\n%s", config.Path, strings.Join(lines, "\n"))}, s.write(file, content)
}

func reference(image imageSet) string {
	name := image.Image
	if image.NewName != "" {
		name = image.NewName
	}
	switch {
	case image.Digest != "":
		return name + "@" + image.Digest
	case image.Tag != "":
		return name + ":" + image.Tag
	}
	return name
}

func (s *step) freightImages() ([]imageSet, error) {
	var all []imageSet
	for _, image := range s.work.Images {
		if slices.ContainsFunc(all, func(other imageSet) bool { return other.Image == image.RepoURL }) {
			return nil, fail("images: the Freight has several images of %s: name the one to set", image.RepoURL)
		}
		set := imageSet{Image: image.RepoURL, Tag: image.Tag}
		if image.Tag == "" {
			set.Digest = image.Digest
		}
		all = append(all, set)
	}
	if len(all) == 0 {
		return nil, fail("images: there are none, and the Freight has none")
	}
	return all, nil
}

// kustomization is the file of a directory that describes it.
func (s *step) kustomization(dir string) (file string, content []byte, err error) {
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		file = path.Join(dir, name)
		there, err := s.exists(file)
		if err != nil {
			return "", nil, err
		}
		if !there {
			continue
		}
		content, err = s.read(file)
		return file, content, err
	}
	return "", nil, fail("path: there is no kustomization in %q", dir)
}

// setImages sets the entries of images in a kustomization. Comments and the order of fields stay.
func setImages(content []byte, images []imageSet) ([]byte, error) {
	root, err := mapping(content)
	if err != nil {
		return nil, err
	}
	list := field(root, "images")
	if list == nil || list.Kind != yaml.SequenceNode {
		if list != nil && list.Tag != "!!null" {
			return nil, errors.New("images is not a list")
		}
		list = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		setField(root, "images", list)
	}
	for _, image := range images {
		var entry *yaml.Node
		for _, item := range list.Content {
			if name := field(item, "name"); name != nil && name.Value == image.Image {
				entry = item
			}
		}
		if entry == nil {
			entry = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
			setField(entry, "name", text(image.Image))
			list.Content = append(list.Content, entry)
		}
		if image.NewName != "" {
			setField(entry, "newName", text(image.NewName))
		}
		// One of the two is meant.
		if image.Tag != "" {
			removeField(entry, "digest")
			setField(entry, "newTag", text(image.Tag))
		}
		if image.Digest != "" {
			removeField(entry, "newTag")
			setField(entry, "digest", text(image.Digest))
		}
	}
	return encode(root)
}

// mapping is the one document of a file.
func mapping(content []byte) (*yaml.Node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return nil, err
	}
	if len(document.Content) == 0 {
		return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}, nil
	}
	if document.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("it is not an object")
	}
	return document.Content[0], nil
}

func encode(root *yaml.Node) ([]byte, error) {
	const indent = 2
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(indent)
	if err := encoder.Encode(root); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}

// text is a string, in quotes where it would be read as something else.
func text(value string) *yaml.Node {
	node := &yaml.Node{}
	node.SetString(value)
	return node
}

// field is the value of a field; nil where there is none.
func field(node *yaml.Node, name string) *yaml.Node {
	if node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i+1]
		}
	}
	return nil
}

func setField(node *yaml.Node, name string, value *yaml.Node) {
	if before := field(node, name); before != nil {
		// A comment at the end of the line stays.
		value.LineComment = before.LineComment
		*before = *value
		return
	}
	node.Content = append(node.Content, text(name), value)
}

func removeField(node *yaml.Node, name string) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			node.Content = append(node.Content[:i:i], node.Content[i+2:]...)
			return
		}
	}
}
