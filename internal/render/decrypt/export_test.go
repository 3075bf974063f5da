package decrypt

import "github.com/getsops/sops/v3/azkv"

// SetAzure has Azure Key Vault asked as a test wants it: the SDK only talks to hosts of Azure.
func (k *Keys) SetAzure(account func(*azkv.MasterKey)) { k.azure = account }

// Reason is the reported reason of a service's response.
func Reason(err error) string { return reason(err) }
