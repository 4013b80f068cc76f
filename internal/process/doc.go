// Package process runs the programs this repository needs beside itself.
//
//	child, err := process.Start(ctx, process.Command{Path: "/usr/bin/redis-server"})
//	if err != nil {
//		return err
//	}
//	defer child.Stop()
//	if err := child.Until(ctx, answers); err != nil {
//		return err // carries the child's last lines
//	}
//
// # What is promised
//
// A child never outlives the process that started it: [Child.Stop] ends it, the
// end of the context given to [Start] ends it, and on Linux the kernel ends it
// when this process is gone for whatever reason, kill -9 included. On other
// systems a kill -9 of this process leaves the child running.
//
// A child is the leader of its own process group, so that Ctrl-C at a terminal
// reaches it through this process and not beside it.
//
// # Concurrency
//
// All methods of [Child] may be called from several goroutines at once, any
// number of times.
package process
