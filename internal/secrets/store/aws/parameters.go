package aws

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/headgate-dev/headgate/internal/secrets/store"
)

// parameters is the Parameter Store of AWS Systems Manager. A version is a number or a label.
type parameters struct{ api *ssm.Client }

// defaultKey encrypts parameters for which the metadata has no key.
const defaultKey = "alias/aws/ssm"

func (p parameters) read(ctx context.Context, name, version string) ([]byte, error) {
	of := fmt.Sprintf("reading the parameter %q", name)
	if version != "" {
		name += ":" + version
	}
	got, err := p.api.GetParameter(ctx, &ssm.GetParameterInput{Name: &name, WithDecryption: sdk.Bool(true)})
	if err != nil {
		return nil, failure(of, err)
	}
	if got.Parameter == nil || got.Parameter.Value == nil {
		return nil, fmt.Errorf("%s: %w: it has no value", of, store.ErrMalformed)
	}
	return []byte(*got.Parameter.Value), nil
}

func (p parameters) tags(ctx context.Context, name string) (map[string]string, error) {
	got, err := p.api.ListTagsForResource(ctx, &ssm.ListTagsForResourceInput{ResourceType: types.ResourceTypeForTaggingParameter, ResourceId: &name})
	if err != nil {
		return nil, failure(fmt.Sprintf("reading the tags of the parameter %q", name), err)
	}
	all := map[string]string{}
	for _, tag := range got.TagList {
		all[sdk.ToString(tag.Key)] = sdk.ToString(tag.Value)
	}
	return all, nil
}

func (p parameters) state(ctx context.Context, name string) (*state, error) {
	value, err := p.read(ctx, name, "")
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	tags, err := p.tags(ctx, name)
	if err != nil {
		return nil, err
	}
	return &state{value, tags}, nil
}

// find lists values below a path, which needs permissions for that path alone; by tags, and where these permissions lack, it
// lists all parameters.
func (p parameters) find(ctx context.Context, find store.Find, pattern *regexp.Regexp) (map[string][]byte, error) {
	if len(find.Tags) > 0 {
		return p.described(ctx, find, pattern)
	}
	in := &ssm.GetParametersByPathInput{Path: sdk.String("/"), Recursive: sdk.Bool(true), WithDecryption: sdk.Bool(true)}
	if find.Path != "" {
		in.Path = &find.Path
	}
	of := fmt.Sprintf("listing the parameters below %q", *in.Path)
	found, seen := map[string][]byte{}, 0
	for pages := ssm.NewGetParametersByPathPaginator(p.api, in, func(o *ssm.GetParametersByPathPaginatorOptions) { o.StopOnDuplicateToken = true }); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if permission(err) {
			return p.described(ctx, find, pattern)
		}
		if err != nil {
			return nil, failure(of, err)
		}
		if seen += 1 + len(page.Parameters); seen > store.MaxFound {
			return nil, store.TooMany(of)
		}
		for _, one := range page.Parameters {
			if one.Name != nil && one.Value != nil && pattern.MatchString(*one.Name) {
				found[*one.Name] = []byte(*one.Value)
			}
		}
	}
	return found, nil
}

func (p parameters) described(ctx context.Context, find store.Find, pattern *regexp.Regexp) (map[string][]byte, error) {
	in := &ssm.DescribeParametersInput{MaxResults: sdk.Int32(50)}
	if find.Path != "" {
		in.ParameterFilters = append(in.ParameterFilters, types.ParameterStringFilter{Key: sdk.String("Path"), Option: sdk.String("Recursive"), Values: []string{find.Path}})
	}
	for _, key := range slices.Sorted(maps.Keys(find.Tags)) {
		in.ParameterFilters = append(in.ParameterFilters, types.ParameterStringFilter{Key: sdk.String("tag:" + key), Option: sdk.String("Equals"), Values: []string{find.Tags[key]}})
	}
	const of = "listing parameters"
	found, seen := map[string][]byte{}, 0
	for pages := ssm.NewDescribeParametersPaginator(p.api, in, func(o *ssm.DescribeParametersPaginatorOptions) { o.StopOnDuplicateToken = true }); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, failure(of, err)
		}
		if seen += 1 + len(page.Parameters); seen > store.MaxFound {
			return nil, store.TooMany(of)
		}
		for _, one := range page.Parameters {
			name := sdk.ToString(one.Name)
			if !pattern.MatchString(name) {
				continue
			}
			value, err := p.read(ctx, name, "")
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

func (p parameters) create(ctx context.Context, name string, value []byte, meta metadata) error {
	in := parameter(name, value, meta)
	in.Tags = pairs(meta.all())
	_, err := p.api.PutParameter(ctx, in)
	return failure(fmt.Sprintf("creating the parameter %q", name), err)
}

func (p parameters) update(ctx context.Context, name string, value []byte, meta metadata) error {
	in := parameter(name, value, meta)
	in.Overwrite = sdk.Bool(true)
	_, err := p.api.PutParameter(ctx, in)
	return failure(fmt.Sprintf("updating the parameter %q", name), err)
}

func parameter(name string, value []byte, meta metadata) *ssm.PutParameterInput {
	in := &ssm.PutParameterInput{Name: &name, Value: sdk.String(string(value)), Type: types.ParameterTypeString, Description: text(meta.Description)}
	if meta.SecretType != "" {
		in.Type = types.ParameterType(meta.SecretType)
	}
	if in.Type == types.ParameterTypeSecureString {
		in.KeyId = sdk.String(defaultKey)
		if meta.KMSKeyID != "" {
			in.KeyId = &meta.KMSKeyID
		}
	}
	if meta.Tier.Type != "" {
		in.Tier = types.ParameterTier(meta.Tier.Type)
	}
	if len(meta.Tier.Policies) > 0 {
		in.Policies = sdk.String(string(meta.Tier.Policies))
	}
	return in
}

func pairs(tags map[string]string) []types.Tag {
	all := make([]types.Tag, 0, len(tags))
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		all = append(all, types.Tag{Key: &key, Value: sdk.String(tags[key])})
	}
	return all
}

func (p parameters) retag(ctx context.Context, name string, set map[string]string, remove []string) error {
	of := fmt.Sprintf("changing the tags of the parameter %q", name)
	if len(remove) > 0 {
		in := &ssm.RemoveTagsFromResourceInput{ResourceType: types.ResourceTypeForTaggingParameter, ResourceId: &name, TagKeys: remove}
		if _, err := p.api.RemoveTagsFromResource(ctx, in); err != nil {
			return failure(of, err)
		}
	}
	if len(set) > 0 {
		_, err := p.api.AddTagsToResource(ctx, &ssm.AddTagsToResourceInput{ResourceType: types.ResourceTypeForTaggingParameter, ResourceId: &name, Tags: pairs(set)})
		return failure(of, err)
	}
	return nil
}

func (p parameters) remove(ctx context.Context, name string) error {
	_, err := p.api.DeleteParameter(ctx, &ssm.DeleteParameterInput{Name: &name})
	return failure(fmt.Sprintf("deleting the parameter %q", name), err)
}

func (p parameters) check(ctx context.Context) error {
	_, err := p.api.DescribeParameters(ctx, &ssm.DescribeParametersInput{MaxResults: sdk.Int32(1)})
	if permission(err) {
		return nil
	}
	return failure("listing parameters", err)
}
