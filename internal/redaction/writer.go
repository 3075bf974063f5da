package redaction

import "io"

// NewWriter returns a writer of messages that writes them without the credentials of URLs. Each call of Write is to have whole
// lines.
func NewWriter(w io.Writer) io.Writer {
	plain := writer{w}
	if f, is := w.(file); is {
		return fileWriter{plain, f}
	}
	return plain
}

type writer struct{ to io.Writer }

// Write writes what it is given, but for credentials.
func (w writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// file is what may be a terminal.
type file interface{ Fd() uintptr }

// fileWriter is a writer to a file: what asks for the size of a terminal still finds it.
type fileWriter struct {
	writer
	file
}
