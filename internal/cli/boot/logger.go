package boot

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// startLog begins to log, and has the libraries log to the same place.
func startLog(w io.Writer, level, encoding string) (logr.Logger, error) {
	handler, err := newLogHandler(w, level, encoding)
	if err != nil {
		return logr.Discard(), err
	}
	log := logr.FromSlogHandler(handler)
	slog.SetDefault(slog.New(handler))
	klog.SetLogger(log.WithName("client"))
	return log, nil
}

// newLogHandler logs as Flux's controllers do: a line each, as JSON with ts, level, msg and, where there is one,
// error.
func newLogHandler(w io.Writer, level, encoding string) (slog.Handler, error) {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "error": slog.LevelError}
	at, known := levels[level]
	if !known {
		return nil, fmt.Errorf("--log-level: unknown level %q; use debug, info or error", level)
	}
	options := &slog.HandlerOptions{Level: at, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) > 0 {
			return a
		}
		switch a.Key {
		case slog.TimeKey:
			a.Key = "ts"
		case slog.LevelKey:
			a.Value = slog.StringValue(levelName(a.Value))
		case "err":
			a.Key = "error"
		}
		return a
	}}
	switch encoding {
	case "json":
		return slog.NewJSONHandler(w, options), nil
	case "console":
		return slog.NewTextHandler(w, options), nil
	default:
		return nil, fmt.Errorf("--log-encoding: unknown encoding %q; use json or console", encoding)
	}
}

// levelName words a level. What is less than info, by however much, is debug.
func levelName(v slog.Value) string {
	level, ok := v.Any().(slog.Level)
	if !ok || level >= slog.LevelInfo {
		return strings.ToLower(v.String())
	}
	return strings.ToLower(slog.LevelDebug.String())
}
