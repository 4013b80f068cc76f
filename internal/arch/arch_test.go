package arch_test

import (
	"cmp"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/effectonce/effectonce"

// root is the repository's folder, seen from this package's.
var root = filepath.Join("..", "..")

func TestArrowsPointInwardOnly(t *testing.T) {
	t.Parallel()
	packages := read(t, root)
	for _, known := range []string{"canon", "key", "store", "interceptor"} {
		require.NotEmpty(t, packages[known], "%s was not looked at", known)
	}
	assert.Empty(t, check(packages), "the table is in rules_test.go")
}

// The rules must be able to fail: the fixture breaks each kind of rule.
func TestBrokenRulesAreFound(t *testing.T) {
	t.Parallel()
	want := []string{
		". reaches interceptor, which it never may: . → internal/glue → interceptor",
		". reaches store/memory, which it never may: . → internal/glue → interceptor → store/memory",
		". reaches store/sqlite, which it never may: . → internal/glue → interceptor → store/memory → store/sqlite",
		"activities may not import interceptor",
		"activities reaches interceptor, which it never may: activities → interceptor",
		"activities reaches store, which it never may: activities → interceptor → store/memory → store/sqlite → store",
		"activities reaches store/memory, which it never may: activities → interceptor → store/memory",
		"activities reaches store/sqlite, which it never may: activities → interceptor → store/memory → store/sqlite",
		"activities reaches store/storetest, which it never may: activities → interceptor → store/memory → store/storetest",
		"canon may not import github.com/google/uuid",
		"cmd/effectonce reaches interceptor, which it never may: cmd/effectonce → interceptor",
		"interceptor may not import github.com/jackc/pgx/v5",
		"interceptor may not import store/memory",
		"interceptor reaches store/memory, which it never may: interceptor → store/memory",
		"interceptor reaches store/sqlite, which it never may: interceptor → store/memory → store/sqlite",
		"internal/glue imports net/http/httptest, a test package",
		"key imports testing, a test package",
		"key may not import store",
		"nowhere: no rule names this package",
		"store/memory imports store/storetest, a test package",
		"store/memory may not import store/sqlite",
		"store/memory may not import store/storetest",
		"store/sqlite may not import github.com/jackc/pgx/v5/pgxpool",
		"workflows reaches interceptor, which it never may: workflows → activities → interceptor",
		"workflows reaches store, which it never may: workflows → activities → interceptor → store/memory → store/sqlite → store",
		"workflows reaches store/memory, which it never may: workflows → activities → interceptor → store/memory",
		"workflows reaches store/sqlite, which it never may: workflows → activities → interceptor → store/memory → store/sqlite",
		"workflows reaches store/storetest, which it never may: workflows → activities → interceptor → store/memory → store/storetest",
	}
	assert.Equal(t, want, check(read(t, filepath.Join("testdata", "bad"))))
}

// Users of the library get no driver that they did not choose.
func TestTheLibraryBringsNoDriver(t *testing.T) {
	t.Parallel()
	deps := golang(t, root, "list", "-deps", "./interceptor", "./store/memory")
	names := strings.Fields(deps)
	require.Contains(t, names, module+"/interceptor")
	require.Contains(t, names, module+"/store/memory")
	assert.Empty(t, drivers(names))
}

func TestDriversAreFound(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"github.com/jackc/pgx/v5", "github.com/redis/go-redis/v9", "modernc.org/sqlite/lib"},
		drivers([]string{"context", "github.com/jackc/pgx/v5", "github.com/redis/go-redis/v9", "modernc.org/sqlite/lib", module}))
}

func drivers(packages []string) []string {
	return slices.DeleteFunc(slices.Clone(packages), func(p string) bool {
		return !(strings.Contains(p, "pgx") || strings.Contains(p, "redis") || strings.Contains(p, "sqlite") ||
			strings.Contains(p, "aws-sdk") || strings.Contains(p, "goose"))
	})
}

// check returns every broken rule, in order.
func check(packages map[string][]string) []string {
	var broken []string
	report := func(format string, a ...any) { broken = append(broken, fmt.Sprintf(format, a...)) }

	for name, imports := range packages {
		r, found := ruleOf(name)
		if !found {
			report("%s: no rule names this package", name)
			continue
		}
		for _, i := range imports {
			in := ours(i)
			shown := cmp.Or(in, i)
			if !r.tests && isTest(i) {
				report("%s imports %s, a test package", name, shown)
			}
			if in != "" && !matches(in, r.ours) || in == "" && !standard(i) && !allowed(i, r.others) {
				report("%s may not import %s", name, shown)
			}
		}
		for reached, way := range ways(name, packages) {
			if matches(reached, r.never) {
				report("%s reaches %s, which it never may: %s", name, reached, way)
			}
		}
	}
	slices.Sort(broken)
	return broken
}

// ways returns the packages of ours that name reaches, with a shortest way.
func ways(name string, packages map[string][]string) map[string]string {
	found := map[string]string{}
	type step struct{ name, way string }
	for queue := []step{{name, name}}; len(queue) > 0; queue = queue[1:] {
		for _, i := range packages[queue[0].name] {
			next := ours(i)
			if _, seen := found[next]; next != "" && !seen {
				found[next] = queue[0].way + " → " + next
				queue = append(queue, step{next, found[next]})
			}
		}
	}
	return found
}

// ours returns the folder of a package of this repository, else "".
func ours(importPath string) string {
	if importPath == module {
		return "."
	}
	name, found := strings.CutPrefix(importPath, module+"/")
	if !found {
		return ""
	}
	return name
}

func ruleOf(name string) (rule, bool) {
	i := slices.IndexFunc(rules, func(r rule) bool { return matches(name, []string{r.of}) })
	if i < 0 {
		return rule{}, false
	}
	return rules[i], true
}

func matches(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		base, tree := strings.CutSuffix(pattern, "/...")
		return pattern == "..." || name == base || tree && strings.HasPrefix(name, base+"/")
	})
}

func allowed(importPath string, modules []string) bool {
	return slices.ContainsFunc(modules, func(m string) bool {
		return m == "..." || importPath == m || strings.HasPrefix(importPath, m+"/")
	})
}

// standard is true for the standard library, whose paths begin with no domain.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

func isTest(importPath string) bool {
	if name := ours(importPath); name != "" {
		r, _ := ruleOf(name)
		return r.tests
	}
	for _, tool := range []string{"testing", "github.com/stretchr/testify", "go.temporal.io/sdk/testsuite", "pgregory.net/rapid", "go.uber.org/goleak"} {
		if allowed(importPath, []string{tool}) {
			return true
		}
	}
	return strings.HasSuffix(path.Base(importPath), "test")
}

// read returns the imports of every package below dir, in all its modules, by
// the package's folder. It reads what the non-test files say, those for other
// systems too: they need not compile, nor need the modules they name be there.
func read(t *testing.T, dir string) map[string][]string {
	t.Helper()
	packages := map[string][]string{}
	require.NoError(t, filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && file != dir && (name[0] == '.' || name[0] == '_' || name == "testdata" || name == "node_modules") {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(dir, filepath.Dir(file))
		if err != nil {
			return err
		}
		imports := packages[filepath.ToSlash(folder)]
		for _, spec := range syntax.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if !slices.Contains(imports, path) {
				imports = append(imports, path)
			}
		}
		packages[filepath.ToSlash(folder)] = imports
		return nil
	}))
	return packages
}

func golang(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GOWORK=off")
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	require.NoError(t, err, "go %s: %s", strings.Join(args, " "), &problems)
	return string(out)
}
