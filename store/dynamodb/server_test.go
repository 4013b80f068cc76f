package dynamodb_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	driver "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/effectonce/effectonce/internal/process"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/dynamodb"
)

// The tests run on the endpoint that EFFECTONCE_TEST_DYNAMODB names (a URL), with the
// region and the credentials of the usual AWS_* variables. Without it a private
// dynalite is started, which ends with this process. Without that they are skipped;
// REQUIRE_SERVICES=1 makes that a failure.

func TestMain(m *testing.M) {
	code := m.Run()
	if private != nil && !stopped(private) {
		code = 1
	}
	os.Exit(code)
}

// private is the dynalite that was started, if one was.
var private *process.Child

// stopped stops it, and complains if it has ended before its time.
func stopped(c *process.Child) bool {
	select {
	case <-c.Done():
		fmt.Fprintf(os.Stderr, "dynalite has ended by itself:\n%s\n", c.Tail())
		return false
	default:
		return c.Stop() == nil
	}
}

var errNone = errors.New("no DynamoDB here")

var server = sync.OnceValues(func() (endpoint string, err error) {
	if endpoint := os.Getenv("EFFECTONCE_TEST_DYNAMODB"); endpoint != "" {
		return endpoint, nil
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return "", fmt.Errorf("%w: node is not on PATH (make deps installs it)", errNone)
	}
	if _, err := os.Stat(filepath.Join("testdata", "dynalite", "node_modules", "dynalite")); err != nil {
		return "", fmt.Errorf("%w: dynalite is not installed (make deps installs it)", errNone)
	}
	// Something else may take the port between our looking and its listening.
	for range 3 {
		if endpoint, err = serve(node); err == nil || !strings.Contains(err.Error(), "EADDRINUSE") {
			break
		}
	}
	return endpoint, err
})

func serve(node string) (endpoint string, err error) {
	port, err := process.FreePort()
	if err != nil {
		return "", err
	}
	child, err := process.Start(context.Background(), process.Command{
		Path: node, Name: "dynalite", Args: []string{filepath.Join("testdata", "dynalite", "serve.js"), fmt.Sprint(port)},
	})
	if err != nil {
		return "", err
	}
	endpoint = fmt.Sprintf("http://127.0.0.1:%d", port)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := child.Until(ctx, func(ctx context.Context) error { return answers(ctx, endpoint) }); err != nil {
		_ = child.Stop()
		return "", err
	}
	private = child
	return endpoint, nil
}

func answers(ctx context.Context, endpoint string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint, http.NoBody)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// transport has as many idle connections as the tests have goroutines.
var transport = awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
	t.MaxIdleConnsPerHost = 256
})

// connect returns a client of the server.
func connect(t testing.TB, changes ...func(*driver.Options)) *driver.Client {
	t.Helper()
	endpoint, err := server()
	if errors.Is(err, errNone) && os.Getenv("REQUIRE_SERVICES") != "1" {
		t.Skipf("skipped, because %v (set REQUIRE_SERVICES=1 to make this a failure)", err)
	}
	if err != nil {
		t.Fatalf("no server for this test: %v", err)
	}
	o := driver.Options{
		BaseEndpoint: &endpoint, Region: envOr("AWS_REGION", "us-east-1"), HTTPClient: transport,
		Credentials: credentials.NewStaticCredentialsProvider(
			envOr("AWS_ACCESS_KEY_ID", "test"), envOr("AWS_SECRET_ACCESS_KEY", "test"), os.Getenv("AWS_SESSION_TOKEN")),
	}
	return driver.New(o, changes...)
}

func envOr(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// table makes a table that goes with the test.
func table(t testing.TB) string {
	t.Helper()
	client := connect(t)
	name := "effectonce-test-" + store.NewToken().String()
	if err := dynamodb.EnsureTable(t.Context(), client, dynamodb.Options{Table: name}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { drop(t, name) })
	return name
}

func drop(t testing.TB, name string) {
	t.Helper()
	client := connect(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if private == nil { // dynalite does not know it
		_, _ = client.UpdateTable(ctx, &driver.UpdateTableInput{TableName: &name, DeletionProtectionEnabled: aws.Bool(false)})
	}
	if _, err := client.DeleteTable(ctx, &driver.DeleteTableInput{TableName: &name}); err != nil {
		t.Error(err)
	}
}

// open returns a store in a table that is there.
func open(t testing.TB, client *driver.Client, opts dynamodb.Options) *dynamodb.Store {
	t.Helper()
	if opts.Timeout == 0 {
		opts.Timeout = time.Minute // the suite lets hundreds ask dynalite at once
	}
	s, err := dynamodb.New(t.Context(), client, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
