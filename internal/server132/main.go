// Command server132 is a Temporal server of version 1.32.1 for tests, which keeps
// everything in memory. Its first line of output is where it listens: a free port of
// 127.0.0.1. It ends at once when it is asked to, or with the process that started it.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.temporal.io/server/temporaltest"
)

func main() {
	parent := os.Getppid()
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM)
	server := temporaltest.NewServer() // panics if it does not start
	fmt.Println(server.GetFrontendHostPort())

	// Where the kernel does not tell it, an orphan has another parent.
	orphaned := time.NewTicker(time.Second)
	for os.Getppid() == parent {
		select {
		case <-orphaned.C:
		case <-ended:
			return
		}
	}
}
