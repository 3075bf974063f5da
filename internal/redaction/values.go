package redaction

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// least is how long a part of a value has to be, in bytes, to be searched for in texts: shorter ones occur by chance. They are compared as wholes.
	least = 4
	// leastLine is that of a line of a value with several.
	leastLine = 8
	// maxParts bounds the parts of the values of one set that are searched for in every form, and maxPlain those that are searched for at all: the
	// lines of a list of certificates are many. Of a set with more, nothing is shown.
	maxParts, maxPlain = 1000, 20_000
	// maxDepth bounds values in values: JSON in base64 in JSON.
	maxDepth = 4
	// maxBytes bounds the values of one set together. Of a set with more, nothing is shown.
	maxBytes = 4 << 20
)

// Values are secrets that are taken out of what people see, however they are written there: as they are, as a part of JSON that they are, as a number,
// quoted, escaped, in hexadecimal or in base64, also within a longer text in base64. What was made of a value otherwise cannot be found by comparison:
// a half of it, its letters in upper case, a digest.
type Values struct {
	forms *strings.Replacer
	// wholes are what is a secret only where it stands alone, numbers those that a number is compared with.
	wholes  map[string]bool
	numbers map[float64]bool
	// everything is set where values have more parts than can be searched for.
	everything bool
}

// NewValues returns the set of some values; empty ones are none.
func NewValues(values ...string) *Values {
	v := &Values{wholes: map[string]bool{}, numbers: map[float64]bool{}}
	p := parts{texts: map[string]bool{}, wholes: v.wholes, numbers: v.numbers}
	size := 0
	for _, value := range values {
		if size += len(value); size > maxBytes {
			break
		}
		p.add(value, true, 0)
	}
	if v.everything = size > maxBytes || len(p.texts)+len(p.wholes) > maxPlain; v.everything {
		return v
	}
	found := map[string]bool{}
	for text, whole := range p.texts {
		found[text] = true
		if !whole && len(p.texts) > maxParts {
			continue
		}
		for _, form := range formsOf(text) {
			found[form] = true
		}
	}
	sorted := make([]string, 0, len(found))
	for form := range found {
		sorted = append(sorted, form)
	}
	// The longest goes first, so that no value leaves the rest of a longer one that begins with it.
	slices.SortFunc(sorted, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	pairs := make([]string, 0, 2*len(sorted))
	for _, form := range sorted {
		pairs = append(pairs, form, cut)
	}
	v.forms = strings.NewReplacer(pairs...)
	return v
}

// Text is a text without the values.
func (v *Values) Text(text string) string {
	if text == "" || v.everything || v.wholes[text] {
		return strings.Repeat(cut, min(1, len(text)))
	}
	return v.forms.Replace(text)
}

// JSON is a value of JSON without the values: in texts, in keys, and as numbers.
func (v *Values) JSON(value any) any {
	switch of := value.(type) {
	case string:
		return v.Text(of)
	case map[string]any:
		clean := make(map[string]any, len(of))
		for key, item := range of {
			clean[v.Text(key)] = v.JSON(item)
		}
		return clean
	case []any:
		clean := make([]any, len(of))
		for i, item := range of {
			clean[i] = v.JSON(item)
		}
		return clean
	case nil, bool:
		return value
	}
	// Whatever else there is, numbers of any type among it, is compared as it is written.
	data, err := json.Marshal(value)
	if err != nil || v.everything {
		return cut
	}
	if number, err := strconv.ParseFloat(string(data), 64); err == nil {
		if v.numbers[number] {
			return cut
		}
		return value
	}
	var plain any
	if json.Unmarshal(data, &plain) != nil {
		return cut
	}
	return v.JSON(plain)
}

// parts are what values consist of.
type parts struct {
	// texts are true where one is a whole value.
	texts, wholes map[string]bool
	numbers       map[float64]bool
}

// add adds a value, or a part of one, and what it consists of.
func (p *parts) add(text string, whole bool, depth int) {
	if text == "" || len(p.texts)+len(p.wholes) > maxPlain {
		return
	}
	if !whole && len(text) < least {
		p.wholes[text] = true
	} else {
		p.texts[text] = whole || p.texts[text]
		p.number(text)
	}
	if depth == maxDepth {
		return
	}
	if trimmed := strings.TrimSpace(text); trimmed != text {
		p.add(trimmed, whole, depth)
	}
	if strings.Contains(text, "\n") {
		for line := range strings.SplitSeq(text, "\n") {
			if line = strings.TrimSpace(line); len(line) >= leastLine {
				p.add(line, false, depth+1)
			}
		}
	}
	var value any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if strings.ContainsAny(text, `{["`) && decoder.Decode(&value) == nil {
		p.leaves(value, depth+1)
		p.written(value)
	}
	if len(text) >= leastLine {
		p.decoded(text, depth+1)
	}
}

// part adds a text that is not a whole value, unless it is one too.
func (p *parts) part(text string) {
	if !p.texts[text] {
		p.texts[text] = false
	}
}

// number adds the numbers that a text becomes where it is not quoted.
func (p *parts) number(text string) {
	number, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsInf(number, 0) || math.IsNaN(number) {
		return
	}
	p.numbers[number] = true
	forms := []string{strconv.FormatFloat(number, 'g', -1, 64), strconv.FormatFloat(number, 'f', -1, 64), strconv.FormatFloat(number, 'e', -1, 64)}
	if data, err := json.Marshal(number); err == nil {
		forms = append(forms, string(data))
	}
	for _, form := range forms {
		if len(form) >= least {
			p.part(form)
		} else {
			p.wholes[form] = true
		}
	}
}

// leaves adds what a value of JSON consists of. True and false say nothing.
func (p *parts) leaves(value any, depth int) {
	switch of := value.(type) {
	case string:
		p.add(of, false, depth)
	case json.Number:
		p.add(of.String(), false, depth)
	case map[string]any:
		for _, item := range of {
			p.leaves(item, depth)
		}
	case []any:
		for _, item := range of {
			p.leaves(item, depth)
		}
	}
}

// written adds a value of JSON as it is written on one line, with its keys in order.
func (p *parts) written(value any) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) == nil && out.Len() > least {
		p.part(strings.TrimSpace(out.String()))
	}
}

// decoded adds the text that a value is the base64 of.
func (p *parts) decoded(text string, depth int) {
	plain := strings.TrimRight(strings.TrimSpace(text), "=")
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if data, err := encoding.DecodeString(plain); err == nil && utf8.Valid(data) {
			p.add(string(data), false, depth)
		}
	}
}

// formsOf are the ways in which a text is written.
func formsOf(text string) []string {
	quoted := quotes(text)
	forms := slices.Concat([]string{text}, quoted)
	for _, one := range quoted {
		forms = append(forms, quotes(one)...)
	}
	forms = append(forms, strings.ReplaceAll(text, "'", "''"), url.QueryEscape(text), url.PathEscape(text))
	if len(text) >= least {
		forms = append(forms, hex.EncodeToString([]byte(text)), strings.ToUpper(hex.EncodeToString([]byte(text))))
		forms = append(forms, encoded(text)...)
	}
	return forms
}

// quotes are how a text is written between double quotes, by Go, by JSON and by JSON that may be part of HTML.
func quotes(text string) []string {
	inner := func(quoted string) string { return quoted[1 : len(quoted)-1] }
	forms := []string{inner(strconv.Quote(text)), inner(strconv.QuoteToASCII(text))}
	for _, html := range []bool{false, true} {
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(html)
		if encoder.Encode(text) == nil {
			forms = append(forms, inner(strings.TrimSpace(out.String())))
		}
	}
	return forms
}

// encoded is a text in base64, alone and within a longer one: three bytes become four characters, so that there are three ways to begin, and what is
// at either end depends on what is beside it.
func encoded(text string) []string {
	var forms []string
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		forms = append(forms, encoding.EncodeToString([]byte(text)), encoding.WithPadding(base64.StdPadding).EncodeToString([]byte(text)))
		for before := range 3 {
			padded := append(make([]byte, before), text...)
			first, last := []int{0, 2, 3}[before], len(padded)*8/6
			forms = append(forms, encoding.EncodeToString(padded)[first:last])
		}
	}
	return forms
}
