package aws

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"

	"github.com/headgate-dev/headgate/internal/secrets/store"
)

// secrets is AWS Secrets Manager. A version is a stage, or uuid/ID.
type secrets struct {
	api    *secretsmanager.Client
	config Config
}

func (s secrets) read(ctx context.Context, name, version string) ([]byte, error) {
	in := &secretsmanager.GetSecretValueInput{SecretId: &name}
	if id, ok := strings.CutPrefix(version, "uuid/"); ok {
		in.VersionId = &id
	} else if version != "" {
		in.VersionStage = &version
	}
	of := fmt.Sprintf("reading the secret %q", name)
	got, err := s.api.GetSecretValue(ctx, in)
	switch {
	case err != nil:
		return nil, failure(of, err)
	case got.SecretBinary != nil:
		return got.SecretBinary, nil
	case got.SecretString != nil:
		return []byte(*got.SecretString), nil
	default:
		return nil, fmt.Errorf("%s: %w: it has no value", of, store.ErrMalformed)
	}
}

func tagged(tags []types.Tag) map[string]string {
	all := map[string]string{}
	for _, tag := range tags {
		all[sdk.ToString(tag.Key)] = sdk.ToString(tag.Value)
	}
	return all
}

func tagging(tags map[string]string) []types.Tag {
	all := make([]types.Tag, 0, len(tags))
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		all = append(all, types.Tag{Key: &key, Value: sdk.String(tags[key])})
	}
	return all
}

func (s secrets) describe(ctx context.Context, name string) (*secretsmanager.DescribeSecretOutput, error) {
	got, err := s.api.DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: &name})
	return got, failure(fmt.Sprintf("describing the secret %q", name), err)
}

func (s secrets) tags(ctx context.Context, name string) (map[string]string, error) {
	got, err := s.describe(ctx, name)
	if err != nil {
		return nil, err
	}
	return tagged(got.Tags), nil
}

func (s secrets) state(ctx context.Context, name string) (*state, error) {
	got, err := s.describe(ctx, name)
	if errors.Is(err, store.ErrNotFound) || (err == nil && got.DeletedDate != nil) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	value, err := s.read(ctx, name, "")
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	return &state{value, tagged(got.Tags)}, nil
}

func (s secrets) find(ctx context.Context, find store.Find, pattern *regexp.Regexp) (map[string][]byte, error) {
	in := &secretsmanager.ListSecretsInput{MaxResults: sdk.Int32(100)}
	if find.Path != "" {
		in.Filters = append(in.Filters, types.Filter{Key: types.FilterNameStringTypeName, Values: []string{find.Path}})
	}
	for _, key := range slices.Sorted(maps.Keys(find.Tags)) {
		in.Filters = append(in.Filters, types.Filter{Key: types.FilterNameStringTypeTagKey, Values: []string{key}},
			types.Filter{Key: types.FilterNameStringTypeTagValue, Values: []string{find.Tags[key]}})
	}
	const of = "listing secrets"
	found, seen := map[string][]byte{}, 0
	for pages := secretsmanager.NewListSecretsPaginator(s.api, in, func(o *secretsmanager.ListSecretsPaginatorOptions) { o.StopOnDuplicateToken = true }); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, failure(of, err)
		}
		if seen += 1 + len(page.SecretList); seen > store.MaxFound {
			return nil, store.TooMany(of)
		}
		for _, one := range page.SecretList {
			name := sdk.ToString(one.Name)
			// The filters match beginnings, and keys and values of tags on their own.
			if !find.Below(name) || !find.Tagged(tagged(one.Tags)) || !pattern.MatchString(name) {
				continue
			}
			value, err := s.read(ctx, name, "")
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			found[name] = value
		}
	}
	return found, nil
}

// valued is a value as the metadata wants it.
func valued(value []byte, meta metadata) (*string, []byte) {
	if meta.SecretPushFormat == "string" {
		return sdk.String(string(value)), nil
	}
	return nil, value
}

// text is an optional string.
func text(value string) *string {
	if value == "" {
		return nil
	}
	return &value
}

func (s secrets) create(ctx context.Context, name string, value []byte, meta metadata) error {
	in := &secretsmanager.CreateSecretInput{Name: &name, Tags: tagging(meta.all()), Description: text(meta.Description), KmsKeyId: text(meta.KMSKeyID)}
	in.SecretString, in.SecretBinary = valued(value, meta)
	_, err := s.api.CreateSecret(ctx, in)
	return failure(fmt.Sprintf("creating the secret %q", name), err)
}

func (s secrets) update(ctx context.Context, name string, value []byte, meta metadata) error {
	in := &secretsmanager.PutSecretValueInput{SecretId: &name}
	in.SecretString, in.SecretBinary = valued(value, meta)
	_, err := s.api.PutSecretValue(ctx, in)
	return failure(fmt.Sprintf("updating the secret %q", name), err)
}

func (s secrets) retag(ctx context.Context, name string, set map[string]string, remove []string) error {
	of := fmt.Sprintf("changing the tags of the secret %q", name)
	if len(remove) > 0 {
		if _, err := s.api.UntagResource(ctx, &secretsmanager.UntagResourceInput{SecretId: &name, TagKeys: remove}); err != nil {
			return failure(of, err)
		}
	}
	if len(set) > 0 {
		_, err := s.api.TagResource(ctx, &secretsmanager.TagResourceInput{SecretId: &name, Tags: tagging(set)})
		return failure(of, err)
	}
	return nil
}

func (s secrets) remove(ctx context.Context, name string) error {
	in := &secretsmanager.DeleteSecretInput{SecretId: &name}
	if s.config.ForceDelete {
		in.ForceDeleteWithoutRecovery = sdk.Bool(true)
	} else if s.config.RecoveryDays > 0 {
		in.RecoveryWindowInDays = &s.config.RecoveryDays
	}
	_, err := s.api.DeleteSecret(ctx, in)
	return failure(fmt.Sprintf("deleting the secret %q", name), err)
}

func (s secrets) check(ctx context.Context) error {
	_, err := s.api.ListSecrets(ctx, &secretsmanager.ListSecretsInput{MaxResults: sdk.Int32(1)})
	if permission(err) {
		return nil
	}
	return failure("listing secrets", err)
}
