package process

import (
	"fmt"
	"net"
)

// FreePort returns a TCP port of 127.0.0.1 that was free a moment ago. Another
// process may take it before it is used: callers try again with a new one.
func FreePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
