package compose

import (
	"bytes"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is the repository's folder, seen from this package's.
var root = filepath.Join("..", "..")

// load reads a file as "docker compose" does. It fails on unknown fields and on
// services that do not resolve.
func load(t *testing.T, file string) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{file}, cli.WithWorkingDirectory(filepath.Dir(file)))
	require.NoError(t, err)
	project, err := options.LoadProject(t.Context())
	require.NoError(t, err)
	return project
}

func TestComposeFile(t *testing.T) {
	t.Parallel()
	project := load(t, filepath.Join(root, "docker-compose.yml"))
	assert.ElementsMatch(t, []string{"postgres", "temporal", "ui", "provider", "worker"}, project.ServiceNames())
	assert.Empty(t, faults(project))

	t.Run("TheWorkerReachesItsServices", func(t *testing.T) {
		t.Parallel()
		worker := project.Services["worker"]
		address := func(name string) string {
			value := worker.Environment[name]
			require.NotNil(t, value, "%s is not set", name)
			return *value
		}
		assert.Equal(t, "temporal:7233", address("TEMPORAL_ADDRESS"))
		for variable, service := range map[string]string{"EFFECTONCE_STORE": "postgres", "EFFECTONCE_PROVIDER": "provider"} {
			parsed, err := url.Parse(address(variable))
			require.NoError(t, err)
			assert.Equal(t, service, parsed.Hostname(), variable)
			assert.Contains(t, worker.DependsOn, service, "the worker starts after what %s names", variable)
			assert.True(t, slices.ContainsFunc(project.Services[service].Ports, func(p types.ServicePortConfig) bool {
				return fmt.Sprint(p.Target) == parsed.Port()
			}), "%s: %s does not listen on %s", variable, service, parsed.Port())
		}
		assert.Contains(t, worker.DependsOn, "temporal")
	})

	t.Run("TheStoreIsTheDatabaseThatPostgresMakes", func(t *testing.T) {
		t.Parallel()
		store, err := url.Parse(*project.Services["worker"].Environment["EFFECTONCE_STORE"])
		require.NoError(t, err)
		made := project.Services["postgres"].Environment
		password, _ := store.User.Password()
		assert.Equal(t, *made["POSTGRES_USER"], store.User.Username())
		assert.Equal(t, *made["POSTGRES_PASSWORD"], password)
		assert.Equal(t, "/"+*made["POSTGRES_DB"], store.Path)
	})
}

// Each kind of fault must be found, or its absence above says nothing.
func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{
		"built: its Dockerfile: nowhere/Dockerfile is not there",
		"built: its package ./nowhere is not there",
		"latest: image example/latest:latest is not pinned",
		"latest: it has no health check",
		"open: port 80 is bound to all addresses, not to loopback",
		"open: port 81 is bound to 0.0.0.0, not to loopback",
		"open: port 82 is bound to 192.0.2.1, not to loopback",
		"untagged: image example.com:5000/untagged is not pinned",
		"untagged: it has no health check",
		"waiting: it does not wait until open is healthy",
	}, faults(load(t, filepath.Join("testdata", "faulty.yml"))))
}

// A file that Docker Compose would refuse must not load.
func TestUnknownServiceIsRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "docker-compose.yml")
	require.NoError(t, os.WriteFile(file, []byte("services: {a: {image: b:1, depends_on: [nobody]}}"), 0o600))
	options, err := cli.NewProjectOptions([]string{file}, cli.WithName("test"))
	require.NoError(t, err)
	_, err = options.LoadProject(t.Context())
	assert.ErrorContains(t, err, "nobody")
}

func faults(project *types.Project) []string {
	var found []string
	for name, service := range project.Services {
		report := func(format string, a ...any) { found = append(found, name+": "+fmt.Sprintf(format, a...)) }
		if !pinned(service.Image) {
			report("image %s is not pinned", service.Image)
		}
		if h := service.HealthCheck; h == nil || h.Disable || len(h.Test) == 0 || h.Test[0] == "NONE" {
			report("it has no health check")
		}
		for _, port := range service.Ports {
			if port.HostIP == "" {
				report("port %d is bound to all addresses, not to loopback", port.Target)
			} else if ip, err := netip.ParseAddr(port.HostIP); err != nil || !ip.IsLoopback() {
				report("port %d is bound to %s, not to loopback", port.Target, port.HostIP)
			}
		}
		for other, need := range service.DependsOn {
			if need.Condition != types.ServiceConditionHealthy {
				report("it does not wait until %s is healthy", other)
			}
		}
		if build := service.Build; build != nil {
			dockerfile := filepath.Join(build.Context, build.Dockerfile)
			if _, err := os.Stat(dockerfile); err != nil {
				report("its Dockerfile: %s is not there", relative(project, dockerfile))
			}
			if p := build.Args["PACKAGE"]; p != nil {
				if sources, _ := filepath.Glob(filepath.Join(build.Context, *p, "*.go")); len(sources) == 0 {
					report("its package %s is not there", *p)
				}
			}
		}
	}
	slices.Sort(found)
	return found
}

func relative(project *types.Project, path string) string {
	name, err := filepath.Rel(project.WorkingDir, path)
	if err != nil {
		return path
	}
	return name
}

// pinned is true for a tag with a version, or for a tag of our own.
func pinned(image string) bool {
	_, tag, found := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	return found && tag != "latest" && tag != ""
}

var from = regexp.MustCompile(`(?m)^FROM (\S+)`)

func TestDockerfile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	require.NoError(t, err)

	images := from.FindAllSubmatch(text, -1)
	require.Len(t, images, 2, "one stage builds, one runs")
	for _, image := range images {
		assert.Regexp(t, `^[a-z/]+:\d+\.\d+\.\d+(-[a-z]+)?$`, string(image[1]), "images are pinned to a whole version")
	}
	last := text[bytes.LastIndex(text, []byte("\nFROM ")):]
	assert.Regexp(t, `(?m)^USER 10001:10001$`, string(last), "the program does not run as root")
	assert.Contains(t, string(text), "CGO_ENABLED=0 go build")

	// The toolchain there must be able to build the module.
	module, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	wants := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)
	require.NotNil(t, wants)
	assert.Contains(t, string(images[0][1]), "golang:"+string(wants[1])+".")
}
