// Package temporalcli finds, builds and runs the Temporal command line program,
// which carries a whole Temporal server for development.
//
//	path, err := temporalcli.Find(ctx)
//	if errors.Is(err, temporalcli.ErrNotFound) {
//		path, err = temporalcli.Build(ctx, os.Stderr)
//	}
//	if err != nil {
//		return err
//	}
//	server, err := temporalcli.DevServer(ctx, temporalcli.Options{Path: path, UI: true})
//	if err != nil {
//		return err
//	}
//	defer server.Stop()
//
// # What is promised
//
// A server that [DevServer] returned answers and has the namespace "default".
// It listens on 127.0.0.1 only, keeps everything in memory, and never outlives
// this process (on Linux not even after kill -9; see package process).
//
// # Errors
//
//	nothing found, or only programs that are too old   [ErrNotFound]
//	TEMPORAL_CLI names a program that cannot be used   an error naming it; nothing else is tried
//	no Go toolchain to build with                      an error saying so
//	the server ended or did not answer in time         an error with its last lines
package temporalcli
