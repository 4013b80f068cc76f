package storeurl_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/internal/storeurl"
)

func TestRedisIsKept(t *testing.T) {
	t.Parallel()
	url := services.Redis(t)
	use(t, url, url, storeurl.Options{Existing: true})
}

func TestRedisPrefix(t *testing.T) {
	t.Parallel()
	url := services.Redis(t)
	use(t, with(url, "prefix=pay%20ments&pool_size=5"), url+"?prefix=pay%20ments", storeurl.Options{Existing: true})
	refused(t, with(url, "prefix=payments"), storeurl.Options{Existing: true}, storeurl.ErrMissing, "that the worker uses")
}

func TestRedisThatRefusesUs(t *testing.T) {
	t.Parallel()
	_, host, _ := strings.Cut(services.Redis(t), "://")
	refused(t, "redis://nobody:s3cr3t@"+host, storeurl.Options{}, storeurl.ErrUnreachable, "user, password and database")
}

func TestRedisThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	opts := storeurl.Options{Timeout: 200 * time.Millisecond}
	refused(t, "redis://u:s3cr3t@"+address, opts, storeurl.ErrUnreachable, "open redis://u@"+address)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	refused(t, "redis://u:s3cr3t@"+address, opts, storeurl.ErrUnreachable, "check that the server runs")
}
