package secrets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/aws"
	"github.com/headgate-dev/headgate/internal/secrets/store/azure"
	"github.com/headgate-dev/headgate/internal/secrets/store/gcp"
)

// The annotations of accounts that say for which client of Azure a token is.
const (
	azureClient   = "azure.workload.identity/client-id"
	azureTenant   = "azure.workload.identity/tenant-id"
	azureAudience = "api://AzureADTokenExchange"
)

func (l login) azure(ctx context.Context, a *esv1.AzureKVProvider) (azure.Config, error) {
	c := azure.Config{VaultURL: a.VaultURL, Tenant: a.TenantID}
	switch strings.TrimPrefix(a.EnvironmentType, "Azure") {
	case "", "PublicCloud":
	case "USGovernmentCloud":
		c.Authority = "https://login.microsoftonline.us/"
	case "ChinaCloud":
		c.Authority = "https://login.chinacloudapi.cn/"
	default:
		if a.CustomCloudConfig == nil {
			return c, fmt.Errorf("azurekv.environmentType %s: %w", a.EnvironmentType, store.ErrUnsupported)
		}
		c.Authority, c.AnyHost = a.CustomCloudConfig.ActiveDirectoryEndpoint, true
	}
	switch a.AuthType {
	case "", esv1.AzureServicePrincipal:
		ref := a.AuthSecretRef
		if ref == nil || ref.ClientID == nil || ref.ClientSecret == nil {
			return c, errors.New("azurekv.authSecretRef needs clientId and clientSecret")
		}
		c.Auth.Principal = &azure.Principal{ClientID: l.key(*ref.ClientID), Secret: l.key(*ref.ClientSecret)}
	case esv1.AzureWorkloadIdentity:
		return l.azureWorkload(ctx, a, c)
	case esv1.AzureManagedIdentity:
		return c, fmt.Errorf("azurekv.authType ManagedIdentity: the identity of the machine is not used for tenants: %w", store.ErrUnsupported)
	}
	return c, nil
}

// azureWorkload logs in with a token of an account, whose annotations name the client.
func (l login) azureWorkload(ctx context.Context, a *esv1.AzureKVProvider, c azure.Config) (azure.Config, error) {
	if a.ServiceAccountRef == nil {
		return c, fmt.Errorf("azurekv.authType WorkloadIdentity without serviceAccountRef: %w", store.ErrUnsupported)
	}
	account, err := l.account(ctx, *a.ServiceAccountRef)
	if err != nil {
		return c, err
	}
	client := account.Annotations[azureClient]
	if c.Tenant == "" {
		c.Tenant = account.Annotations[azureTenant]
	}
	if ref := a.AuthSecretRef; ref != nil && ref.ClientID != nil {
		if client, err = store.Credential(l.lookup(ctx, l.key(*ref.ClientID))); err != nil {
			return c, fmt.Errorf("azurekv.authSecretRef.clientId: %w", err)
		}
	}
	if client == "" {
		return c, fmt.Errorf("ServiceAccount %s/%s lacks the annotation %s", account.Namespace, account.Name, azureClient)
	}
	c.Auth.Workload = &azure.Workload{ClientID: client, Token: l.token(*a.ServiceAccountRef, azureAudience)}
	return c, nil
}

// What says which role of AWS an account is for, and who takes its tokens.
const (
	awsRole     = "eks.amazonaws.com/role-arn"
	awsAudience = "sts.amazonaws.com"
)

// The variables by which an operator moves the services of AWS elsewhere, as with the upstream.
const (
	awsSecretsEndpoint    = "AWS_SECRETSMANAGER_ENDPOINT"
	awsParametersEndpoint = "AWS_SSM_ENDPOINT"
	awsLoginEndpoint      = "AWS_STS_ENDPOINT"
)

func (l login) aws(ctx context.Context, a *esv1.AWSProvider) (aws.Config, error) {
	c := aws.Config{
		Service: a.Service, Region: a.Region, Role: a.Role, ExternalID: a.ExternalID, Prefix: a.Prefix,
		Endpoint: os.Getenv(awsSecretsEndpoint), STSEndpoint: os.Getenv(awsLoginEndpoint),
	}
	if a.Service == aws.ParameterStore {
		c.Endpoint = os.Getenv(awsParametersEndpoint)
	}
	if m := a.SecretsManager; m != nil {
		c.ForceDelete, c.RecoveryDays = m.ForceDeleteWithoutRecovery, m.RecoveryWindowInDays
	}
	for field, given := range map[string]bool{
		"additionalRoles": len(a.AdditionalRoles) > 0, "sessionTags": len(a.SessionTags) > 0, "transitiveTagKeys": len(a.TransitiveTagKeys) > 0,
	} {
		if given {
			return c, fmt.Errorf("aws.%s: %w", field, store.ErrUnsupported)
		}
	}
	switch auth := a.Auth; {
	case auth.SecretRef != nil:
		c.Keys = &aws.Keys{ID: l.key(auth.SecretRef.AccessKeyID), Secret: l.key(auth.SecretRef.SecretAccessKey)}
		if auth.SecretRef.SessionToken != nil {
			token := l.key(*auth.SecretRef.SessionToken)
			c.Keys.Session = &token
		}
	case auth.JWT != nil && auth.JWT.ServiceAccountRef != nil:
		account, err := l.account(ctx, *auth.JWT.ServiceAccountRef)
		if err != nil {
			return c, err
		}
		if c.Role = account.Annotations[awsRole]; c.Role == "" {
			return c, fmt.Errorf("ServiceAccount %s/%s lacks the annotation %s", account.Namespace, account.Name, awsRole)
		}
		if a.Role != "" {
			return c, fmt.Errorf("aws.role beside auth.jwt: %w", store.ErrUnsupported)
		}
		c.Workload = l.token(*auth.JWT.ServiceAccountRef, awsAudience)
	default:
		return c, fmt.Errorf("aws.auth has none of secretRef, jwt: the credentials of the machine are not used for tenants: %w", store.ErrUnsupported)
	}
	return c, nil
}

// gcpEndpoint is the variable by which an operator moves the Secret Manager of Google Cloud elsewhere.
const gcpEndpoint = "GCP_SECRETMANAGER_ENDPOINT"

func (l login) gcp(g *esv1.GCPSMProvider) (gcp.Config, error) {
	c := gcp.Config{Project: g.ProjectID, Location: g.Location, Endpoint: os.Getenv(gcpEndpoint)}
	switch g.SecretVersionSelectionPolicy {
	case "", "LatestOrFail":
	case "LatestOrFetch":
		c.Fetch = true
	default:
		return c, fmt.Errorf("gcpsm.secretVersionSelectionPolicy %q is neither LatestOrFail nor LatestOrFetch", g.SecretVersionSelectionPolicy)
	}
	switch {
	case g.Auth.WorkloadIdentity != nil, g.Auth.WorkloadIdentityFederation != nil:
		return c, fmt.Errorf("gcpsm.auth: workload identities: %w; use secretRef with the key of a service account", store.ErrUnsupported)
	case g.Auth.SecretRef == nil:
		return c, fmt.Errorf("gcpsm.auth.secretRef is missing: the identity of the machine is not used for tenants: %w", store.ErrUnsupported)
	}
	c.Key = l.key(g.Auth.SecretRef.SecretAccessKey)
	return c, nil
}
