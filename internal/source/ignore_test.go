package source_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/source"
)

func TestFilter(t *testing.T) {
	text := func(s string) *string { return &s }
	cases := map[string]struct {
		reason string
		files  map[string]string
		spec   *string
		want   []string
	}{
		"defaults": {
			reason: "pictures, archives, files of CI and of version control are left out",
			files: map[string]string{
				"a.yaml": "", "x.png": "", "deep/y.JPG": "", "deep/y.jpg": "", "b.tar.gz": "", ".github/w.yaml": "", ".circleci/c.yml": "",
				".gitlab-ci.yml": "", ".gitignore": "", "deep/.gitattributes": "", ".gitmodules": "", "deep/.sops.yaml": "", ".goreleaser.yml": "",
				"github/w.yaml": "",
			},
			want: []string{"a.yaml", "deep/y.JPG", "github/w.yaml"},
		},
		"spec": {
			reason: "rules of one's own take the place of the defaults, but not of version control",
			files:  map[string]string{"a.yaml": "", "x.png": "", ".github/w.yaml": "", ".gitignore": "", "docs/d.md": ""},
			spec:   text("docs/\n"),
			want:   []string{".github/w.yaml", "a.yaml", "x.png"},
		},
		"empty spec": {
			reason: "no rule at all leaves the defaults",
			files:  map[string]string{"a.yaml": "", "x.png": ""},
			spec:   text("# nothing\n\n"),
			want:   []string{"a.yaml"},
		},
		"only one folder": {
			reason: "all but one folder is left out, in the way of the handbook",
			files:  map[string]string{"a.yaml": "", "deploy/b.yaml": "", "deploy/sub/c.yaml": "", "deploy/x.png": ""},
			spec:   text("/*\n!/deploy\n/deploy/*.png\n"),
			want:   []string{"deploy/b.yaml", "deploy/sub/c.yaml"},
		},
		"sourceignore": {
			reason: "a file of rules is about its directory, and the deeper one counts",
			files: map[string]string{
				".sourceignore": "*.md\r\n/top\n", "top": "", "a.md": "", "x.png": "", "sub/top": "", "sub/a.md": "",
				"sub/.sourceignore": "!a.md\n*.tmp\n", "b.tmp": "", "sub/b.tmp": "", "sub/deep/c.tmp": "",
			},
			want: []string{".sourceignore", "b.tmp", "sub/.sourceignore", "sub/a.md", "sub/top", "x.png"},
		},
		"keep all": {
			reason: "nothing at all is left out but Git's own directory",
			files:  map[string]string{".sourceignore": "*.md\n", "a.md": "", "deep/x.png": "", "b.tar.gz": "", ".gitignore": "", ".git/config": ""},
			spec:   text(source.KeepAll),
			want:   []string{".gitignore", ".sourceignore", "a.md", "b.tar.gz", "deep/x.png"},
		},
		"spec last": {
			reason: "spec.ignore counts before files of rules",
			files:  map[string]string{".sourceignore": "*.md\n", "a.md": "", "b.md": ""},
			spec:   text("!a.md\n"),
			want:   []string{".sourceignore", "a.md"},
		},
		"link": {
			reason: "a link is no file of rules",
			files:  map[string]string{".sourceignore": "->rules", "rules": "*.md\n", "a.md": ""},
			want:   []string{".sourceignore", "a.md", "rules"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			files := list(c.files)
			for range 2 {
				kept, err := source.Filter(files, c.spec)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, f := range kept {
					got = append(got, f.Path)
				}
				slices.Sort(got)
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.reason, diff)
				}
				slices.Reverse(files)
			}
		})
	}
}
