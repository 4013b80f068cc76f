// Package demo shows effectonce at work: nine ways in which Temporal and an agent ask for an effect
// more than once, each run twice, without effectonce and with it.
//
//	err := demo.Run(ctx, demo.Options{Out: os.Stdout, Progress: os.Stderr, Self: []string{exe, "part"}})
//
// Nothing is simulated. [Run] starts a Temporal server, an outside provider and workers as processes
// of their own; workers are killed with SIGKILL, workflows are reset by the server, answers get lost
// on real connections, and effects are counted in the provider's journal. The processes are this
// program again: it has to pass the argument that follows [Options].Self to [Part].
//
// The rows of the table are in rows.go, what happens in each of them is in plays.go.
//
// # Errors
//
//	a row is not as promised         [ErrBroken]; the table says which row, and why
//	a process does not start or ends the error carries its last lines
//	ctx ends                         its cause
//
// In every case all processes are gone, and the folder removed, when Run returns.
package demo
