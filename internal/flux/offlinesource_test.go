package flux

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// unitOf is a Kustomization of a source, and more of its spec.
func unitOf(name, source, spec string) string {
	return "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\n" +
		"spec: {interval: 1h, prune: true, sourceRef: {" + source + "}" + spec + "}\n"
}

func sourceObject(kind, name, spec string) string {
	return "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: flux-system}\nspec: {interval: 1h" + spec + "}\n"
}

func TestOfflineSources(t *testing.T) {
	const ours, config = ", url: 'https://git.example.com/ours', ref: {branch: main}", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: default}\n"
	const generator = "---\napiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: g, namespace: flux-system}\n" +
		"spec: {sources: [{alias: here, kind: GitRepository, name: ours}], artifacts: [{name: made, copy: [{from: '@here/app/**', to: '@artifact/'}]}]}\n"
	const values = ", path: ./app, postBuild: {substituteFrom: [{kind: ConfigMap, name: values}]}"
	cases := map[string]struct {
		reason, root string
		// objects are those of the unit "a"; elsewhere and says are parts of what is said of it.
		objects         int
		elsewhere, says string
	}{
		"own": {reason: "the source of the root", root: unitOf("a", "kind: GitRepository, name: flux-system", ", path: ./app"), objects: 2},
		"ours": {
			reason: "a source with the URL of the working copy is the working copy",
			root:   sourceObject("GitRepository", "ours", ours) + unitOf("a", "kind: GitRepository, name: ours", ", path: ./app"), objects: 2,
		},
		"ignore": {
			reason: "what the source leaves out is not there",
			root:   sourceObject("GitRepository", "ours", ours+", ignore: '/app/more.yaml'") + unitOf("a", "kind: GitRepository, name: ours", ", path: ./app"), objects: 1,
		},
		"sparse": {
			reason: "nor is what it does not check out",
			root:   sourceObject("GitRepository", "ours", ours+", sparseCheckout: [root]") + unitOf("a", "kind: GitRepository, name: ours", ", path: ./app"),
			says:   `kustomization path not found`,
		},
		"include": {
			reason: "what it includes is",
			root: sourceObject("GitRepository", "ours", ours) + sourceObject("GitRepository", "both", ours+", include: [{repository: {name: ours}, fromPath: app, toPath: there}]") +
				unitOf("a", "kind: GitRepository, name: both", ", path: ./there"), objects: 2,
		},
		"generated": {
			reason:  "what a generator of the repository makes of the working copy",
			root:    sourceObject("GitRepository", "ours", ours) + generator + unitOf("a", "kind: ExternalArtifact, name: made", ", path: ./"),
			objects: 2,
		},
		"made elsewhere": {
			reason: "an artifact that something else makes", root: unitOf("a", "kind: ExternalArtifact, name: made", ", path: ./"),
			elsewhere: "not available offline: ExternalArtifact/flux-system/made: it is created elsewhere",
		},
		"branch": {
			reason: "the working copy shows one branch",
			root:   sourceObject("GitRepository", "ours", ", url: 'https://git.example.com/ours', ref: {branch: next}") + unitOf("a", "kind: GitRepository, name: ours", ", path: ./app"),
			says:   `GitRepository/flux-system/ours: spec.ref.branch: "next" is not the branch of the working copy, which is on "main"`,
		},
		"tag": {
			reason:    "a tag is another commit than the working copy",
			root:      sourceObject("GitRepository", "ours", ", url: 'https://git.example.com/ours', ref: {tag: v1}") + unitOf("a", "kind: GitRepository, name: ours", ", path: ./app"),
			elsewhere: "not available offline: GitRepository/flux-system/ours (https://git.example.com/ours): it names a commit",
		},
		"git": {
			reason:    "another repository is never read from the working copy",
			root:      sourceObject("GitRepository", "theirs", ", url: 'https://me:secret@git.example.com/theirs'") + unitOf("a", "kind: GitRepository, name: theirs", ", path: ./app"),
			elsewhere: "not available offline: GitRepository/flux-system/theirs (https://git.example.com/theirs)",
		},
		"oci": {
			reason:    "nor is an artifact of a registry",
			root:      sourceObject("OCIRepository", "oci", ", url: 'oci://registry.example.com/manifests'") + unitOf("a", "kind: OCIRepository, name: oci", ", path: ./app"),
			elsewhere: "not available offline: OCIRepository/flux-system/oci (oci://registry.example.com/manifests)",
		},
		"bucket": {
			reason:    "nor is a bucket",
			root:      sourceObject("Bucket", "b", ", endpoint: s3.example.com, bucketName: things") + unitOf("a", "kind: Bucket, name: b", ", path: ./app"),
			elsewhere: "not available offline: Bucket/flux-system/b (s3.example.com/things)",
		},
		"undeclared": {
			reason: "a source that nothing declares does not exist", root: unitOf("a", "kind: GitRepository, name: none", ", path: ./app"),
			says: "the repository declares no GitRepository/flux-system/none",
		},
		"maybe": {
			reason: "unless something that is elsewhere may declare it",
			root: sourceObject("OCIRepository", "oci", ", url: 'oci://registry.example.com/manifests'") + unitOf("other", "kind: OCIRepository, name: oci", "") +
				unitOf("a", "kind: GitRepository, name: none", ", path: ./app"),
			elsewhere: "GitRepository/flux-system/none: nothing in the repository declares it",
		},
		"declared later": {
			reason:  "a source, and what is read, that another unit declares",
			root:    unitOf("a", "kind: GitRepository, name: late", values) + unitOf("z", "kind: GitRepository, name: flux-system", ", path: ./late"),
			objects: 2,
		},
		"not read": {
			reason: "what is read may be elsewhere too",
			root: sourceObject("OCIRepository", "oci", ", url: 'oci://registry.example.com/manifests'") + unitOf("other", "kind: OCIRepository, name: oci", "") +
				unitOf("a", "kind: GitRepository, name: flux-system", values),
			elsewhere: "ConfigMap/flux-system/values, which spec.postBuild reads, is not declared in the repository",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			files := directoryOf(t, map[string]string{
				"root/all.yaml": c.root, "app/one.yaml": config, "app/more.yaml": strings.Replace(config, "name: x", `name: "${name:=y}"`, 1),
				"late/all.yaml": sourceObject("GitRepository", "late", ours) + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: values, namespace: flux-system}\ndata: {name: z}\n",
			})
			units := walked(t, dialect.Repository{Files: files, Ours: func(url string) bool { return url == "https://git.example.com/ours" }}).Units
			for _, u := range units {
				if u.Unit.ID != toolkit.KustomizationID("flux-system", "a") {
					continue
				}
				said := ""
				if u.Err != nil {
					said = u.Err.Error()
				}
				if c.says == "" && said != "" || !strings.Contains(said, c.says) {
					t.Errorf("%s: error %q, want one with %q", c.reason, said, c.says)
				}
				if c.elsewhere == "" && u.Elsewhere != "" || !strings.Contains(u.Elsewhere, c.elsewhere) || strings.ContainsAny(u.Elsewhere, "\n") || strings.Contains(u.Elsewhere, "secret") {
					t.Errorf("%s: %q is elsewhere, want %q", c.reason, u.Elsewhere, c.elsewhere)
				}
				if diff := cmp.Diff(c.objects, len(u.Objects)); diff != "" {
					t.Errorf("%s: objects (-want +got):\n%s", c.reason, diff)
				}
				return
			}
			t.Fatal("the unit is not there")
		})
	}
}

// TestKnotsElsewhere says nothing for certain of what a unit may declare whose source is elsewhere.
func TestKnotsElsewhere(t *testing.T) {
	files := directoryOf(t, map[string]string{
		"root/all.yaml": sourceObject("OCIRepository", "oci", ", url: 'oci://registry.example.com/x'") +
			unitOf("a", "kind: OCIRepository, name: oci", "") + unitOf("b", "kind: GitRepository, name: flux-system", ", path: ./app, dependsOn: [{name: made-by-a}]"),
		"app/x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: default}\n",
	})
	var got []string
	for _, f := range walked(t, dialect.Repository{Files: files}).Findings(nil) {
		got = append(got, strings.Join(f.Steps, "")+"; unless "+f.Lacks.String())
	}
	want := []string{"Kustomization/flux-system/b depends on Kustomization/flux-system/made-by-a, which no unit declares; unless Kustomization/flux-system/made-by-a"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("waits that never end (-want +got):\n%s", diff)
	}
}
