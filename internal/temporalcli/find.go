package temporalcli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"time"
)

// Env names the environment variable that says which program to use.
const Env = "TEMPORAL_CLI"

// MinServer is the oldest server that is used: the oldest one that this
// repository's tests run against.
const MinServer = "1.29.1"

// ErrNotFound is returned when there is no usable program on this machine.
var ErrNotFound = errors.New("no usable Temporal CLI found")

var serverVersion = regexp.MustCompile(`Server (\d+)\.(\d+)\.(\d+)`)

// Find returns the path of a usable program: what TEMPORAL_CLI names, else the
// one on PATH, else the one that [Build] left in the user's cache folder. Each
// candidate is asked for its version, which takes a moment.
func Find(ctx context.Context) (string, error) {
	if path := os.Getenv(Env); path != "" {
		if err := check(ctx, path); err != nil {
			return "", fmt.Errorf("%s=%s: %w", Env, path, err)
		}
		return path, nil
	}
	var tried []error
	for _, candidate := range candidates() {
		err := check(ctx, candidate)
		if err == nil {
			return candidate, nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			tried = append(tried, fmt.Errorf("%s: %w", candidate, err))
		}
	}
	return "", errors.Join(append([]error{ErrNotFound}, tried...)...)
}

func candidates() []string {
	var paths []string
	if path, err := exec.LookPath("temporal"); err == nil {
		paths = append(paths, path)
	}
	if path, err := cachePath(); err == nil {
		paths = append(paths, path)
	}
	return paths
}

// cachePath is where Build puts the program.
func cachePath() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	name := "temporal"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, "effectonce", "bin", name), nil
}

// check asks the program for the version of its server.
func check(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	// Without its configuration file: a broken one must not hide the program.
	cmd := exec.CommandContext(ctx, path, "--version", "--disable-config-file")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("ask for its version: %w", err)
	}
	return checkVersion(string(out))
}

// checkVersion reads the server's version, because a program that was built
// with go install calls itself 0.0.0-DEV.
func checkVersion(text string) error {
	found := serverVersion.FindStringSubmatch(text)
	if found == nil {
		return fmt.Errorf("its version %.100q names no server", text)
	}
	least := serverVersion.FindStringSubmatch("Server " + MinServer)
	for i := range found[1:] {
		have, _ := strconv.Atoi(found[i+1])
		want, _ := strconv.Atoi(least[i+1])
		if have != want {
			if have < want {
				return fmt.Errorf("its server %s.%s.%s is older than %s", found[1], found[2], found[3], MinServer)
			}
			return nil
		}
	}
	return nil
}
