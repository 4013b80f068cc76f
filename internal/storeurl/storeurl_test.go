package storeurl_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/internal/storeurl"
	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

func TestMain(m *testing.M) { services.Main(m) }

func request(t *testing.T) store.Request {
	t.Helper()
	k, err := key.Digest(t.Name())
	if err != nil {
		t.Fatal(err)
	}
	return store.Request{
		Ref: store.Ref{Key: k}, Token: store.NewToken(), Namespace: "default", ScopeKind: "namespace",
		Operation: "Refund", Fingerprint: store.Digest{1}, Lease: time.Minute, Remaining: time.Minute,
	}
}

// use claims a record in the store of url, then opens it again with again and looks
// whether the record is there.
func use(t *testing.T, url, name string, again storeurl.Options) {
	t.Helper()
	ctx, q := t.Context(), request(t)
	opened := open(t, url, storeurl.Options{})
	if opened.Name != name {
		t.Errorf("Name is %q, want %q", opened.Name, name)
	}
	if _, err := opened.Store.Claim(ctx, q); err != nil {
		t.Fatal(err)
	}
	if err := opened.Close(); err != nil {
		t.Fatal(err)
	}
	opened = open(t, url, again)
	r, err := opened.Store.Get(ctx, q.Ref)
	if err != nil || r.Token != q.Token {
		t.Errorf("after opening it again: %v, token %s, want %s", err, r.Token, q.Token)
	}
	if err := opened.Close(); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, url string, opts storeurl.Options) *storeurl.Opened {
	t.Helper()
	opened, err := storeurl.Open(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

func TestMemory(t *testing.T) {
	t.Parallel()
	opened := open(t, "memory:", storeurl.Options{})
	if opened.Name != "memory:" {
		t.Errorf("Name is %q", opened.Name)
	}
	if _, err := opened.Store.Claim(t.Context(), request(t)); err != nil {
		t.Error(err)
	}
	if err := opened.Close(); err != nil {
		t.Error(err)
	}
}

func TestSQLiteIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records 100%.db")
	use(t, "sqlite://"+path, "sqlite:"+path, storeurl.Options{Existing: true})
	t.Chdir(filepath.Dir(path))
	use(t, "sqlite:other.db", "sqlite:other.db", storeurl.Options{})
}

func TestExistingMakesNoFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "records.db")
	refused(t, "sqlite:"+path, storeurl.Options{Existing: true}, storeurl.ErrMissing, "no such file")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is there: %v", err)
	}
}

func TestFaultsOfTheURL(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, c := range []struct {
		name, url string
		want      error
		says      string
	}{
		{"Empty", "", storeurl.ErrNoURL, "sqlite:FILE"},
		{"NoScheme", "records.db", storeurl.ErrScheme, "must start with memory:, sqlite:, postgres:// or redis://"},
		{"UnknownScheme", "mysql://u:s3cr3t@h/db", storeurl.ErrScheme, "postgres://"},
		{"SchemeIsCaseSensitive", "SQLite:a.db", storeurl.ErrScheme, "sqlite:"},
		{"MemoryWithMore", "memory:a", storeurl.ErrSyntax, "takes nothing behind it"},
		{"SQLiteWithoutFile", "sqlite:", storeurl.ErrSyntax, "sqlite:records.db"},
		{"SQLiteWithoutFileAsURL", "sqlite://", storeurl.ErrSyntax, "sqlite:records.db"},
		{"SQLiteWithHost", "sqlite://data/a.db", storeurl.ErrSyntax, "sqlite:data/a.db"},
		{"SQLiteInMemory", "sqlite::memory:", storeurl.ErrSyntax, "memory:"},
		{"SQLiteWithParameters", "sqlite:a.db?mode=ro", storeurl.ErrSyntax, "no parameters"},
		{"SQLiteNamesAFolder", "sqlite:" + folder, storeurl.ErrSyntax, "is a folder"},
		{"SQLiteFolderMissing", "sqlite:" + folder + "/no/a.db", storeurl.ErrMissing, folder + "/no"},
		{"PostgresWithoutSlashes", "postgres:u:s3cr3t@h/db", storeurl.ErrSyntax, "postgres://USER"},
		{"PostgresBadParameter", "postgres://u:s3cr3t@h/db?sslmode=maybe", storeurl.ErrSyntax, "sslmode"},
		{"PostgresBadPoolSize", "postgres://u:s3cr3t@h/db?pool_max_conns=many", storeurl.ErrSyntax, "pool_max_conns"},
		{"PostgresBadPort", "postgres://u:s3cr3t@h:no/db", storeurl.ErrSyntax, "port"},
		{"PostgresEmptySchema", "postgres://u:s3cr3t@h/db?schema=", storeurl.ErrSyntax, "schema=VALUE"},
		{"PostgresTwoSchemas", "postgres://u:s3cr3t@h/db?schema=a&schema=b", storeurl.ErrSyntax, "schema=VALUE"},
		{"RedisWithoutSlashes", "redis:u:s3cr3t@h/0", storeurl.ErrSyntax, "redis://USER"},
		{"RedisBadDatabase", "redis://u:s3cr3t@h/first", storeurl.ErrSyntax, "database"},
		{"RedisBadParameter", "redis://u:s3cr3t@h/0?pool=many", storeurl.ErrSyntax, "pool"},
		{"RedisTwoPrefixes", "redis://u:s3cr3t@h/0?prefix=a&prefix=b", storeurl.ErrSyntax, "prefix=VALUE"},
		{"RedisPasswordWithSlash", "redis://u:pa/s3cr3t@h/0", storeurl.ErrSyntax, "percent-encoded"},
		{"PasswordWithSlash", "postgres://u:pa/s3cr3t@h/db", storeurl.ErrSyntax, "percent-encoded"},
		{"PasswordWithQuestionMark", "postgres://u:pa?s3cr3t@h/db", storeurl.ErrSyntax, "percent-encoded"},
		{"PasswordWithAt", "postgres://u:pa@s3cr3t@h/db", storeurl.ErrSyntax, "percent-encoded"},
		{"PasswordWithPercent", "postgres://u:%zzs3cr3t@h/db", storeurl.ErrSyntax, "percent-encoded"},
		{"PasswordParameterBesideAFault", "postgres://u@h/db?password=s3cr3t&sslmode=maybe", storeurl.ErrSyntax, "sslmode"},
		{"PasswordWithBrokenEncodingInParameter", "postgres://u@h/db?password=s3cr3t%zz", storeurl.ErrSyntax, ""},
		{"ParameterWithoutValue", "postgres://u:s3cr3t@h/db?s3cr3t", storeurl.ErrSyntax, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			refused(t, c.url, storeurl.Options{Timeout: time.Second}, c.want, c.says)
		})
	}
}

// refused checks that a URL is refused, in which words, and that no password is
// among them.
func refused(t *testing.T, url string, opts storeurl.Options, want error, says string) {
	t.Helper()
	opened, err := storeurl.Open(t.Context(), url, opts)
	if err == nil {
		_ = opened.Close()
	}
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want %v", err, want)
	}
	if !strings.Contains(err.Error(), says) {
		t.Errorf("error %q does not say %q", err, says)
	}
	if strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("the password is in the error: %v", err)
	}
}

func TestMemoryOfAnotherProcess(t *testing.T) {
	t.Parallel()
	refused(t, "memory:", storeurl.Options{Existing: true}, storeurl.ErrMissing, "cannot be opened from another")
}

func TestServerThatIsNotThere(t *testing.T) {
	t.Parallel()
	// A port that was free a moment ago refuses connections.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	refused(t, "postgres://u:s3cr3t@"+address+"/db", storeurl.Options{}, storeurl.ErrUnreachable,
		"open postgres://u@"+address+"/db")
}

func TestServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	refused(t, "postgres://u:s3cr3t@"+l.Addr().String()+"/db", storeurl.Options{Timeout: 100 * time.Millisecond},
		storeurl.ErrUnreachable, "check that the server runs")
}

func TestCallerGivesUp(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = storeurl.Open(ctx, "postgres://u@"+l.Addr().String()+"/db", storeurl.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}
