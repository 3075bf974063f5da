package render

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/headgate-dev/headgate/internal/render/decrypt"
)

type runtimeObject = runtime.Object

// opener decrypts files while kustomize reads them: those that a kustomization turns into data or
// patches. Resources are decrypted after the build, object by object.
type opener struct {
	fs        *treeFS
	keys      *decrypt.Keys
	encrypted map[string]decrypt.Format
	// decrypted are the files that were opened, and secrets the words that only then appeared.
	decrypted []string
	secrets   map[string]bool
	noRemote  bool
	// sealed is the error of an encrypted file without keys.
	sealed   error
	leaveOut func(entry string)
	sieve    *sieve
	// schema is set once a kustomization brings a schema. The library keeps it for the process, so
	// that a build that shares the library stops there.
	schema, shared bool
}

// open sees every file that is read. A kustomization reports which files it refers to as data; these
// are read after it, and decrypted then.
func (o *opener) open(rel string, data []byte) ([]byte, error) {
	if slices.Contains(konfig.RecognizedKustomizationFileNames(), path.Base(rel)) {
		return o.kustomization(rel, data)
	}
	format, ours := o.encrypted[rel]
	if !ours || !decrypt.IsEncrypted(data, format) {
		return data, nil
	}
	if o.keys == nil {
		return nil, o.sealed
	}
	plain, err := o.keys.Data(data, format, format)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(o.decrypted, rel) {
		o.decrypted = append(o.decrypted, rel)
	}
	for _, word := range words(plain) {
		o.secrets[word] = true
	}
	for _, word := range words(data) {
		delete(o.secrets, word)
	}
	return plain, nil
}

// kustomization prepares one for kustomize: without what is left out, with what was fetched by where that is. Charts are made
// into manifests in the source alone.
func (o *opener) kustomization(rel string, data []byte) ([]byte, error) {
	data = o.sieve.pass(rel, data)
	if err := o.learn(rel, data); err != nil {
		return nil, err
	}
	if o.fs.preparing {
		return data, nil
	}
	data, err := o.fs.reroute(o, rel, data)
	if err != nil || o.fs.mountAt(rel) != nil {
		return data, err
	}
	return o.fs.inflater.rewrite(rel, data)
}

// words are the parts of a text that are long enough to tell something.
func words(text []byte) []string {
	return strings.FieldsFunc(string(text), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"'{}[],:=`, r) })
}

// shows reports whether a text gives away something that was decrypted.
func (o *opener) shows(text string) bool {
	return slices.ContainsFunc(words([]byte(text)), func(word string) bool { return o.secrets[word] })
}

// learn notes the files that a kustomization refers to as data.
func (o *opener) learn(rel string, data []byte) error {
	k := &types.Kustomization{}
	if err := k.Unmarshal(data); err != nil {
		// Kustomize reads it next and says what is wrong with it.
		return nil
	}
	o.schema = o.schema || len(k.OpenAPI) > 0
	if o.schema && o.shared {
		return errSchema
	}
	if o.fs.mountAt(rel) != nil {
		// Files of others are not decrypted.
		return nil
	}
	dir := path.Dir(rel)
	for _, g := range k.SecretGenerator {
		o.sources(dir, g.KvPairSources)
	}
	for _, g := range k.ConfigMapGenerator {
		o.sources(dir, g.KvPairSources)
	}
	for _, p := range k.Patches {
		o.note(dir, p.Path, decrypt.FormatOf(p.Path))
	}
	for _, p := range k.PatchesStrategicMerge { //nolint:staticcheck // old kustomizations still use the field
		if !strings.Contains(string(p), "\n") {
			o.note(dir, string(p), decrypt.YAML)
		}
	}
	return nil
}

// sources notes the files of a generator. As the upstream has it, the key that a file becomes says
// how it is written; what is written otherwise is opened, and converted, in the Secret that is made.
func (o *opener) sources(dir string, s types.KvPairSources) {
	for _, source := range s.FileSources {
		key, file, named := strings.Cut(source, "=")
		if !named {
			file = key
		}
		o.note(dir, file, decrypt.FormatOf(key))
	}
	for _, source := range append(slices.Clone(s.EnvSources), s.EnvSource) {
		format := decrypt.FormatOf(source)
		if format == decrypt.Binary {
			format = decrypt.Dotenv
		}
		o.note(dir, source, format)
	}
}

func (o *opener) note(dir, file string, format decrypt.Format) {
	if file != "" {
		o.encrypted[path.Join(dir, file)] = format
	}
}

// noteValues notes a file of values of a chart.
func (o *opener) noteValues(dir, file string) { o.note(dir, file, decrypt.YAML) }
