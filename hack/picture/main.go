// Command picture runs a command and draws what it prints as an SVG, in which each line appears when it was printed. Viewers that
// know no animations show all lines. It is run by hand: make picture.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	to := flag.String("o", "", "file to write")
	columns := flag.Int("columns", 100, "characters of a line, from which on it is cut")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := record(ctx, *to, *columns, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// record runs a command and draws it. Nothing is written if the command fails.
func record(ctx context.Context, to string, columns int, args []string) error {
	if to == "" || len(args) == 0 || columns < 20 {
		return fmt.Errorf("usage: picture -o FILE [-columns N] COMMAND [ARGUMENT...], with N from 20 on")
	}
	lines, err := run(ctx, args)
	if err != nil {
		return err
	}
	prompt := strings.Join(append([]string{filepath.Base(args[0])}, args[1:]...), " ")
	if err := os.WriteFile(to, draw(prompt, lines, columns), 0o644); err != nil { //nolint:gosec // a picture is for everyone
		return fmt.Errorf("writing the picture: %w", err)
	}
	return nil
}

// A line is what was printed, and how long after the beginning.
type line struct {
	at   time.Duration
	text string
}

// run has a command print, here too, and notes when it does.
func run(ctx context.Context, args []string) ([]line, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("finding out the directory: %w", err)
	}
	printed, out, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("creating a pipe: %w", err)
	}
	defer func() { _ = printed.Close() }()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	began := time.Now()
	err = cmd.Start()
	_ = out.Close()
	if err != nil {
		return nil, fmt.Errorf("running %s: %w", args[0], err)
	}
	var lines []line
	scanner := bufio.NewScanner(io.TeeReader(printed, os.Stderr))
	for scanner.Scan() {
		// The picture does not show the directories of the machine that it was made on.
		lines = append(lines, line{time.Since(began), strings.ReplaceAll(scanner.Text(), here+"/", "")})
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("reading the output of %s: %w", args[0], err)
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("running %s: %w", args[0], err)
	}
	return lines, nil
}
