// Command headgate turns Git repositories into running clusters.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/headgate-dev/headgate/internal/cli"
)

func main() {
	// Before anything else: a child has nothing else to do.
	if code, is := cli.Child(); is {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	streams := cli.IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Child: true}
	quietLibraries()
	code := cli.Main(ctx, os.Args[1:], streams)
	stop()
	os.Exit(code)
}

// quietLibraries keeps what the libraries say or want of their own accord out of the command line:
// warnings that they print past every logger, and the flags that they register for the process.
func quietLibraries() {
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stderr = null
	}
	pflag.CommandLine = pflag.NewFlagSet(os.Args[0], pflag.ContinueOnError)
}
