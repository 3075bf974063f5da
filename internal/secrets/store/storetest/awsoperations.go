package storetest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// awsInput has the fields of all operations.
type awsInput struct {
	SecretId, VersionId, VersionStage string
	Name, Type, Path, NextToken       string
	ResourceId, KeyId                 string
	SecretString, Value               *string
	SecretBinary                      []byte
	ClientRequestToken                string
	Tags                              []awsTag
	TagKeys                           []string
	Overwrite, WithDecryption         bool
	RecoveryWindowInDays              int64
	Filters, ParameterFilters         []struct {
		Key, Option string
		Values      []string
	}
}

type awsTag struct{ Key, Value string }

func tagsOf(tags []awsTag) map[string]string {
	all := map[string]string{}
	for _, tag := range tags {
		all[tag.Key] = tag.Value
	}
	return all
}

func tagList(tags map[string]string) []awsTag {
	all := []awsTag{}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		all = append(all, awsTag{key, tags[key]})
	}
	return all
}

// operate answers an operation and reports whether it knows it.
func (a *AWS) operate(w http.ResponseWriter, operation string, in awsInput) bool {
	id := in.SecretId + in.ResourceId + in.Name
	name, version, _ := strings.Cut(id, ":")
	s := a.secrets[name]
	switch operation {
	case "secretsmanager.ListSecrets":
		a.list(w, "SecretList", in, a.matchSecret)
		return true
	case "ssm.DescribeParameters", "ssm.GetParametersByPath":
		a.list(w, "Parameters", in, a.matchParameter)
		return true
	case "secretsmanager.CreateSecret", "ssm.PutParameter":
		return a.write(w, operation, name, s, in)
	}
	if s == nil {
		code := map[bool]string{true: "ResourceNotFoundException", false: "ParameterNotFound"}[strings.HasPrefix(operation, "secretsmanager.")]
		if in.ResourceId != "" {
			code = "InvalidResourceId"
		}
		a.fail(w, false, code, "there is no s3cret")
		return true
	}
	if s.deleted && operation != "secretsmanager.DescribeSecret" {
		a.fail(w, false, "InvalidRequestException", "You can't perform this operation on the secret because it was marked for deletion.")
		return true
	}
	return a.one(w, operation, name, version, s, in)
}

// write answers an operation that adds a secret or a parameter, which is nil when there is none.
func (a *AWS) write(w http.ResponseWriter, operation, name string, s *awsSecret, in awsInput) bool {
	secret := operation == "secretsmanager.CreateSecret"
	switch {
	case secret && in.ClientRequestToken == "":
		return false
	case !secret && (in.Value == nil || *in.Value == "" || in.Type == "" || (in.Overwrite && len(in.Tags) > 0) || (in.Type == "SecureString") != (in.KeyId != "")):
		return false
	case secret && s != nil && s.deleted:
		a.fail(w, false, "InvalidRequestException", "a secret with this name is already scheduled for deletion: s3cret")
	case secret && s != nil:
		a.fail(w, false, "ResourceExistsException", "it exists: s3cret")
	case s != nil && !in.Overwrite:
		a.fail(w, false, "ParameterAlreadyExists", "it exists: s3cret")
	case secret:
		a.put(name, awsVersion{text: in.SecretString, binary: in.SecretBinary}, tagsOf(in.Tags))
		reply(w, 200, map[string]string{"Name": name})
	default:
		a.put(name, awsVersion{text: in.Value}, tagsOf(in.Tags)).kind = in.Type
		reply(w, 200, map[string]int{"Version": len(a.secrets[name].versions)})
	}
	return true
}

// one answers an operation of a secret that is there.
func (a *AWS) one(w http.ResponseWriter, operation, name, version string, s *awsSecret, in awsInput) bool {
	switch operation {
	case "secretsmanager.GetSecretValue", "ssm.GetParameter":
		a.read(w, name, version, s, in)
	case "secretsmanager.DescribeSecret":
		out := map[string]any{"Name": name, "Tags": tagList(s.tags)}
		if s.deleted {
			out["DeletedDate"] = 1.7e9
		}
		reply(w, 200, out)
	case "ssm.ListTagsForResource":
		reply(w, 200, map[string]any{"TagList": tagList(s.tags)})
	case "secretsmanager.PutSecretValue":
		if in.ClientRequestToken == "" {
			return false
		}
		a.put(name, awsVersion{text: in.SecretString, binary: in.SecretBinary}, nil)
		reply(w, 200, map[string]string{"Name": name})
	case "secretsmanager.TagResource", "ssm.AddTagsToResource":
		maps.Copy(s.tags, tagsOf(in.Tags))
		reply(w, 200, map[string]string{})
	case "secretsmanager.UntagResource", "ssm.RemoveTagsFromResource":
		for _, key := range in.TagKeys {
			delete(s.tags, key)
		}
		reply(w, 200, map[string]string{})
	case "secretsmanager.DeleteSecret":
		s.deleted = true
		reply(w, 200, map[string]string{"Name": name})
	case "ssm.DeleteParameter":
		delete(a.secrets, name)
		reply(w, 200, map[string]string{})
	default:
		return false
	}
	return true
}

func (a *AWS) read(w http.ResponseWriter, name, version string, s *awsSecret, in awsInput) {
	stage := in.VersionStage
	if stage == "" && in.VersionId == "" {
		stage = "AWSCURRENT"
	}
	for i, v := range s.versions {
		number := strconv.Itoa(i + 1)
		switch {
		case in.Name != "" && (version == number || (version == "" && i == len(s.versions)-1)):
			value := *v.text
			if s.kind == "SecureString" && !in.WithDecryption {
				value = "sensitive"
			}
			reply(w, 200, map[string]any{"Parameter": map[string]string{"Name": name, "Value": value}})
			return
		case in.Name == "" && (in.VersionId == "" || in.VersionId == "id-"+number) && (stage == "" || v.stage == stage):
			out := map[string]any{"Name": name, "VersionId": "id-" + number}
			if v.text != nil {
				out["SecretString"] = *v.text
			} else {
				out["SecretBinary"] = v.binary
			}
			reply(w, 200, out)
			return
		}
	}
	if in.Name != "" {
		a.fail(w, false, "ParameterVersionNotFound", "there is no version s3cret")
		return
	}
	a.fail(w, false, "ResourceNotFoundException", "Secrets Manager can't find the specified secret value s3cret")
}

func (a *AWS) matchSecret(name string, s *awsSecret, in awsInput) bool {
	for _, f := range in.Filters {
		matches := f.Key == "name" && strings.HasPrefix(name, f.Values[0])
		for key, value := range s.tags {
			matches = matches || (f.Key == "tag-key" && strings.HasPrefix(key, f.Values[0])) || (f.Key == "tag-value" && strings.HasPrefix(value, f.Values[0]))
		}
		if !matches {
			return false
		}
	}
	return !s.deleted
}

func (a *AWS) matchParameter(name string, s *awsSecret, in awsInput) bool {
	below := func(path string) bool { return strings.HasPrefix(name, strings.TrimRight(path, "/")+"/") }
	for _, f := range in.ParameterFilters {
		key, tag := strings.CutPrefix(f.Key, "tag:")
		if (tag && s.tags[key] != f.Values[0]) || (f.Key == "Path" && !below(f.Values[0])) {
			return false
		}
	}
	return in.Path == "" || below(in.Path)
}

// list answers with pages of two.
func (a *AWS) list(w http.ResponseWriter, field string, in awsInput, match func(string, *awsSecret, awsInput) bool) {
	all := []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(a.secrets)) {
		if s := a.secrets[name]; match(name, s, in) {
			one := map[string]any{"Name": name, "Tags": tagList(s.tags)}
			if in.Path != "" {
				one["Value"] = *s.versions[len(s.versions)-1].text
			}
			all = append(all, one)
		}
	}
	from, _ := strconv.Atoi(in.NextToken)
	to := min(from+a.page, len(all))
	out := map[string]any{field: all[min(from, to):to]}
	if to < len(all) {
		out["NextToken"] = fmt.Sprint(to)
	}
	reply(w, 200, out)
}
