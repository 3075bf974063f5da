package schemas

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

var (
	update = flag.Bool("update", false, "download the releases and write the file")
	all    = flag.Bool("all", false, "download the releases and compare the file with them; else only those that are in the module cache count")
)

const embedded = "../../chart/schema/schemas.gz"

// releases are the versions of the module k8s.io/kubernetes that the file has, the newest last.
var releases = []string{"v1.33.13", "v1.34.4", "v1.35.4", "v1.36.3", "v1.37.2"}

// TestEmbedded compares the file with what the releases publish. Without a flag it needs no network: the release that the
// embedded control plane is made of is in the module cache of all who run tests.
func TestEmbedded(t *testing.T) {
	found := download(t)
	want, err := Text(found)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		file, err := Compress(want)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(embedded, file, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := only(t, read(t), found); !bytes.Equal(got, want) {
		t.Errorf("%s is not what %d releases publish (%d bytes, want %d); run hack/schemas/generate", embedded, len(found), len(got), len(want))
	}
}

// TestBytes holds the property that makes the file one of the repository: the same releases give the same bytes.
func TestBytes(t *testing.T) {
	text := read(t)
	first, err := Compress(text)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Compress(text)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("the same text is compressed to other bytes")
	}
	if len(first) > 600_000 {
		t.Errorf("the file has %d bytes; every module that uses the SDK carries it", len(first))
	}
	if bytes.Contains(text, []byte(`"description":"`)) {
		t.Error("the file has descriptions")
	}
}

// download are the releases that are to be compared.
func download(t *testing.T) []Release {
	t.Helper()
	var found []Release
	for _, version := range releases {
		command := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "k8s.io/kubernetes@"+version)
		command.Dir = t.TempDir()
		if !*update && !*all {
			command.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod")
		}
		out, err := command.Output()
		var module struct{ Dir string }
		if err == nil {
			err = json.Unmarshal(out, &module)
		}
		switch {
		case err == nil:
			minor := strings.TrimPrefix(version[:strings.LastIndexByte(version, '.')], "v")
			found = append(found, Release{Version: minor, Dir: module.Dir})
		case *update || *all:
			t.Fatalf("downloading Kubernetes %s: %v\n%s", version, err, out)
		}
	}
	if len(found) == 0 {
		t.Skip("no release of Kubernetes is in the module cache; hack/schemas/generate --check downloads them")
	}
	return found
}

func read(t *testing.T) []byte {
	t.Helper()
	file, err := os.Open(embedded)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// only is a text without what other releases have.
func only(t *testing.T, text []byte, some []Release) []byte {
	t.Helper()
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	versions := strings.Fields(strings.TrimPrefix(string(first), "versions "))
	var columns []int
	var header []string
	for i, version := range versions {
		for _, r := range some {
			if r.Version == version {
				columns, header = append(columns, i), append(header, version)
			}
		}
	}
	var out bytes.Buffer
	out.WriteString("versions " + strings.Join(header, " ") + "\n")
	for line := range bytes.Lines(rest) {
		var digits []byte
		for _, column := range columns {
			digits = append(digits, line[column])
		}
		if bytes.ContainsRune(digits, '1') {
			out.Write(digits)
			out.Write(line[len(versions):])
		}
	}
	return out.Bytes()
}
