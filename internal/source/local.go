package source

// Local is a repository that this process serves itself.
type Local struct {
	URL, Username, Password string
}
