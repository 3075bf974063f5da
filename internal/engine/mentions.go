package engine

import (
	"regexp"
	"slices"
	"strings"
)

// Mentions are the kinds and names that texts have from which objects are made: files, patches, values, templates. They say of an
// object whether a unit that cannot be rendered may come to declare it. The zero value mentions nothing.
type Mentions struct {
	words map[string]bool
	// shapes are the names of each kind of which a template fills in a part: that part is a star. The kind of those whose kind is
	// filled in is a star too.
	shapes map[string][]string
	// prefixes and suffixes are added to names, and hashed is set where a generator adds a hash.
	prefixes, suffixes []string
	hashed             bool
	// releases are names with one of which everything begins that a chart names by its release.
	releases []string
	// unread is set where there are other texts, which no one could read: what the rest names may be of any kind.
	unread bool
}

var (
	templated   = regexp.MustCompile(`\{\{[\s\S]*?\}\}|<<[^\n]*?>>|\$\{[^}\n]*\}`)
	delimiters  = strings.NewReplacer("{{", " ", "}}", " ", "<<", " ", ">>", " ", "${", " ", "}", " ")
	words       = regexp.MustCompile(`[A-Za-z0-9][A-Za-z0-9._:-]*`)
	kindOfText  = regexp.MustCompile(`(?m)\bkind["']?\s*:\s*["']?(\*|[A-Za-z][A-Za-z0-9]*)`)
	nameInText  = regexp.MustCompile(`(?m)\bname["']?\s*:\s*["']?([^\s"'#,}]*\*[^\s"'#,}]*)`)
	affixOfText = regexp.MustCompile(`(?m)\bname(Prefix|Suffix)["']?\s*:\s*["']?([A-Za-z0-9.-]+)`)
	hash        = regexp.MustCompile(`-[a-z0-9]{10}$`)
	separator   = regexp.MustCompile(`(?m)^---`)
)

// Read adds what a text mentions: YAML or JSON that need not be valid, and templates of it.
func (m *Mentions) Read(text string) {
	if m.words == nil {
		m.words, m.shapes = map[string]bool{}, map[string][]string{}
	}
	for _, word := range words.FindAllString(delimiters.Replace(text), -1) {
		m.words[strings.TrimRight(word, ".:-")] = true
	}
	for generator, kind := range map[string]string{"configMapGenerator": "ConfigMap", "secretGenerator": "Secret"} {
		if m.words[generator] {
			m.words[kind], m.hashed = true, true
		}
	}
	for _, affix := range affixOfText.FindAllStringSubmatch(text, -1) {
		if affix[1] == "Prefix" {
			m.prefixes = append(m.prefixes, affix[2])
		} else {
			m.suffixes = append(m.suffixes, affix[2])
		}
	}
	for _, document := range separator.Split(templated.ReplaceAllString(text, "*"), -1) {
		kinds := kindOfText.FindAllStringSubmatch(document, -1)
		for _, name := range nameInText.FindAllStringSubmatch(document, -1) {
			for _, kind := range kinds {
				m.shape(kind[1], name[1])
			}
		}
	}
}

// Chart adds a template of a chart that is released under a name. What it includes may name its objects, by convention after the
// release.
func (m *Mentions) Chart(text string, releases ...string) {
	m.Read(text)
	for _, release := range releases {
		if release != "" && !slices.Contains(m.releases, release) {
			m.releases = append(m.releases, release)
		}
	}
	for _, kind := range kindOfText.FindAllStringSubmatch(templated.ReplaceAllString(text, "*"), -1) {
		m.shape(kind[1], "*")
	}
}

// Unread notes that there are other texts, which no one could read.
func (m *Mentions) Unread() { m.unread = true }

// Empty reports whether nothing was read.
func (m Mentions) Empty() bool { return m.words == nil }

// Add adds what others mention.
func (m *Mentions) Add(others Mentions) {
	if m.words == nil {
		m.words, m.shapes = map[string]bool{}, map[string][]string{}
	}
	for word := range others.words {
		m.words[word] = true
	}
	for kind, shapes := range others.shapes {
		for _, shape := range shapes {
			m.shape(kind, shape)
		}
	}
	m.prefixes, m.suffixes = append(m.prefixes, others.prefixes...), append(m.suffixes, others.suffixes...)
	m.hashed, m.unread, m.releases = m.hashed || others.hashed, m.unread || others.unread, append(m.releases, others.releases...)
}

func (m *Mentions) shape(kind, name string) {
	if !slices.Contains(m.shapes[kind], name) {
		m.shapes[kind] = append(m.shapes[kind], name)
	}
}

// Mention is how texts mention an object.
type Mention string

// The ways.
const (
	Unmentioned Mention = ""
	// ByName is an object whose kind and name the texts have.
	ByName Mention = "which its files name"
	// ByRevision is one that the files of the revision name which the unit has not read yet.
	ByRevision Mention = "which the revision names"
	// ByRecord is one that the unit of the texts has, or had.
	ByRecord Mention = "which it has had"
	// ByTemplate is one whose name a template may give.
	ByTemplate Mention = "which its templates may generate"
)

// Of returns how an object is mentioned.
func (m Mentions) Of(id ObjectID) Mention {
	for _, name := range m.names(id.Name) {
		if (m.unread || m.words[id.Kind]) && m.words[name] {
			return ByName
		}
	}
	for _, kind := range []string{id.Kind, "*"} {
		for _, shape := range m.shapes[kind] {
			if m.generates(shape, id.Name) {
				return ByTemplate
			}
		}
	}
	return Unmentioned
}

// names are those under which a name may stand in the texts.
func (m Mentions) names(name string) []string {
	names := []string{name}
	if m.hashed && hash.MatchString(name) {
		names = append(names, hash.ReplaceAllString(name, ""))
	}
	for _, one := range slices.Clone(names) {
		for _, prefix := range m.prefixes {
			names = append(names, strings.TrimPrefix(one, prefix))
		}
	}
	for _, one := range slices.Clone(names) {
		for _, suffix := range m.suffixes {
			names = append(names, strings.TrimSuffix(one, suffix))
		}
	}
	return names
}

// generates reports whether a name can come of a shape. Of a chart, what is filled in is a name of the release, or a text that its
// values have.
func (m Mentions) generates(shape, name string) bool {
	if !fits(shape, name) {
		return false
	}
	if len(m.releases) == 0 || m.words[name] {
		return true
	}
	if before, after, _ := strings.Cut(shape, "*"); !strings.Contains(after, "*") && m.words[name[len(before):len(name)-len(after)]] {
		return true
	}
	return slices.ContainsFunc(m.releases, func(release string) bool {
		return name == release || strings.HasPrefix(name, release+"-") || strings.HasSuffix(name, "-"+release)
	})
}

// fits reports whether a name has the parts of a shape that are given, in their order.
func fits(shape, name string) bool {
	parts := strings.Split(shape, "*")
	last := len(parts) - 1
	if !strings.HasPrefix(name, parts[0]) || len(name) < len(parts[0])+len(parts[last]) || !strings.HasSuffix(name, parts[last]) {
		return false
	}
	rest := name[len(parts[0]) : len(name)-len(parts[last])]
	for _, part := range parts[1:last] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return true
}
