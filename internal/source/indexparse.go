package source

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Bounds of an index: of the whole, of a line, and of what is kept of one version of a chart.
const (
	maxIndex = 256 << 20
	maxLine  = 4 << 20
	maxEntry = 1 << 20
)

// ErrIndex is an index.yaml that cannot be read.
var ErrIndex = errors.New("the index cannot be read")

// ParseIndex reads an index.yaml, in YAML or in JSON, line by line: what it keeps is all the memory that
// it takes. Revision is that of the index; empty means the digest of what is read. An index in YAML has
// to be in block form, as Helm writes it. Anything else is an ErrIndex.
func ParseIndex(r io.Reader, revision string) (*Index, error) {
	sum := sha256.New()
	in := bufio.NewReaderSize(io.TeeReader(&capped{r: r, left: maxIndex}, sum), 64<<10)
	x := &Index{revision: revision, charts: map[string][]ChartVersion{}}
	isJSON, err := inJSON(in)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIndex, err)
	}
	if isJSON {
		err = parseIndexJSON(in, x)
	} else {
		err = (&indexScanner{into: x}).scan(in)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, in)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIndex, err)
	}
	if x.revision == "" {
		x.revision = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	}
	return x, nil
}

// byteOrderMark may begin a text in UTF-8.
const byteOrderMark = "\ufeff"

// inJSON reports whether an index is in JSON, and passes over a byte order mark.
func inJSON(in *bufio.Reader) (bool, error) {
	start, err := in.Peek(in.Size())
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	text, marked := strings.CutPrefix(string(start), byteOrderMark)
	if marked {
		if _, err := in.Discard(len(byteOrderMark)); err != nil {
			return false, err
		}
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return false, errors.New("it is empty")
	}
	return text[0] == '{', nil
}

// entry is what is read of one version of a chart.
type entry struct {
	Version    string   `json:"version"    yaml:"version"`
	AppVersion string   `json:"appVersion" yaml:"appVersion"`
	Digest     string   `json:"digest"     yaml:"digest"`
	URLs       []string `json:"urls"       yaml:"urls"`
	Created    string   `json:"created"    yaml:"created"`
}

func (x *Index) add(chart string, e *entry) {
	if chart == "" || e.Version == "" {
		// Helm skips what is not a version either.
		return
	}
	// What is no time is none.
	created, _ := time.Parse(time.RFC3339Nano, e.Created)
	x.charts[chart] = append(x.charts[chart], ChartVersion{
		Version: e.Version, AppVersion: e.AppVersion, Digest: e.Digest, URLs: e.URLs, Created: created,
	})
}

// parseIndexJSON reads an index token by token.
func parseIndexJSON(r io.Reader, into *Index) error {
	d := json.NewDecoder(r)
	version := ""
	err := members(d, func(key string) error {
		switch key {
		case "apiVersion":
			return d.Decode(&version)
		case "entries":
			return members(d, func(chart string) error { return parseVersionsJSON(d, chart, into) })
		default:
			return d.Decode(&json.RawMessage{})
		}
	})
	if err != nil {
		return err
	}
	if version == "" {
		return errNoVersion
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("unexpected content after its end")
	}
	return nil
}

var errNoVersion = errors.New("it has no apiVersion")

func parseVersionsJSON(d *json.Decoder, chart string, into *Index) error {
	start, err := d.Token()
	if err != nil || start == nil {
		return err
	}
	if start != json.Delim('[') {
		return fmt.Errorf("chart %q has no list of versions", chart)
	}
	for d.More() {
		var e entry
		if err := d.Decode(&e); err != nil {
			return fmt.Errorf("chart %q: %w", chart, err)
		}
		into.add(chart, &e)
	}
	_, err = d.Token()
	return err
}

// members calls f for each key of an object; f reads the value.
func members(d *json.Decoder, f func(key string) error) error {
	start, err := d.Token()
	if err != nil || start == nil {
		return err
	}
	if start != json.Delim('{') {
		return errors.New("want an object")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		text, ok := key.(string)
		if !ok {
			return errors.New("a key is not a string")
		}
		if err := f(text); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}
