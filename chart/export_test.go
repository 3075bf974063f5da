package chart

// MergeKeys are the fields whose lists are merged by a key, for a comparison with the types of Kubernetes.
var MergeKeys = mergeKeys
