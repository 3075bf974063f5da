package source

// Local is a repository that this process serves itself.
type Local struct {
	URL, Username, Password string
	// Branch and Dir are what of the repository stands in for something that is no repository of Git; without a directory it is all of it.
	Branch, Dir string
}
