package key_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/canon"
	"github.com/effectonce/effectonce/key"
)

// The vectors of the public format; see docs/spec.md and testdata/README.md.

type specVector struct {
	Name      string  `json:"name"`
	Namespace *string `json:"namespace"`
	ScopeKind string  `json:"scope_kind"`
	ScopeID   string  `json:"scope_id"`
	Operation string  `json:"operation"`
	Intent    string  `json:"intent"`
	Explicit  string  `json:"explicit"`
	CallToken *string `json:"call_token"`

	Fields *struct {
		Identity, Check, Ignore []string
	} `json:"fields"`
	Arguments    *string `json:"arguments"`
	ArgumentsHex string  `json:"arguments_hex"`
	Error        string  `json:"error"` // of a rejection

	Canonical         string `json:"canonical"`
	Fingerprint       string `json:"fingerprint"`
	FingerprintSHA256 string `json:"fingerprint_sha256"`
	Preimage          string `json:"preimage"`
	Key               string `json:"key"`
	Generation        int    `json:"generation"`
	Downstream        string `json:"downstream"`
	UUID              string `json:"uuid"`
}

func specVectors(t *testing.T) (vectors, rejections []specVector) {
	t.Helper()
	data, err := os.ReadFile("testdata/vectors.json")
	require.NoError(t, err)
	var file struct {
		Vectors, Rejections []specVector
	}
	require.NoError(t, json.Unmarshal(data, &file))
	require.GreaterOrEqual(t, len(file.Vectors), 150)
	require.GreaterOrEqual(t, len(file.Rejections), 60)
	return file.Vectors, file.Rejections
}

// text returns the arguments of a vector.
func (v specVector) text(t *testing.T) []byte {
	t.Helper()
	if v.ArgumentsHex != "" {
		text, err := hex.DecodeString(v.ArgumentsHex)
		require.NoError(t, err)
		return text
	}
	require.NotNil(t, v.Arguments)
	return []byte(*v.Arguments)
}

// split takes the arguments apart as the interceptor gets them.
func (v specVector) split(t *testing.T) (canon.Split, error) {
	t.Helper()
	var list []json.RawMessage
	require.NoError(t, json.Unmarshal(v.text(t), &list))
	args := make([]any, len(list))
	for i, arg := range list {
		args[i] = arg
	}
	var f canon.Fields
	if v.Fields != nil {
		f = canon.Fields{Identity: v.Fields.Identity, Check: v.Fields.Check, Ignore: v.Fields.Ignore}
	}
	return f.Split(args)
}

func (v specVector) identity(input []byte) key.Identity {
	return key.Identity{
		Namespace: *v.Namespace, ScopeKind: v.ScopeKind, ScopeID: v.ScopeID, Operation: v.Operation,
		Intent: v.Intent, Explicit: v.Explicit, Input: input,
	}
}

func TestSpecVectors(t *testing.T) {
	t.Parallel()
	vectors, _ := specVectors(t)
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			var input []byte
			if v.Arguments != nil {
				split, err := v.split(t)
				require.NoError(t, err)
				require.Equal(t, v.Canonical, string(split.Identity))
				if v.Fields != nil {
					require.Equal(t, v.Fingerprint, string(split.Fingerprint))
					sum := sha256.Sum256(split.Fingerprint)
					require.Equal(t, v.FingerprintSHA256, hex.EncodeToString(sum[:]))
				}
				input = split.Identity
				if v.CallToken == nil {
					k, err := v.identity(nil).Of(split).Key()
					require.NoError(t, err)
					require.Equal(t, v.Key, k.String(), "an input that is not looked at again")
				}

				// The way of text alone, for which nulls at the end are gone already.
				text, err := canon.Text(nil, v.text(t))
				require.NoError(t, err)
				if v.Fields == nil && !strings.HasSuffix(string(text), "null]") {
					require.Equal(t, v.Canonical, string(text))
					input = v.text(t)
				}
			}
			k, err := v.derive(input)
			require.NoError(t, err)
			require.Equal(t, v.Key, k.String())
			if v.CallToken == nil {
				preimage, err := v.identity(input).Preimage()
				require.NoError(t, err)
				require.Equal(t, v.Preimage, string(preimage))
			}
			sum := sha256.Sum256([]byte(v.Preimage))
			require.Equal(t, v.Key, "eo1_"+hex.EncodeToString(sum[:]))
			if v.Generation > 0 {
				require.Equal(t, v.Downstream, k.Downstream(v.Generation))
				require.Equal(t, v.UUID, key.UUID(v.Downstream))
			}
		})
	}
}

func (v specVector) derive(input []byte) (key.Key, error) {
	if v.CallToken != nil {
		return key.OfCall(*v.Namespace, *v.CallToken)
	}
	return v.identity(input).Key()
}

func TestSpecRejections(t *testing.T) {
	t.Parallel()
	reasons := map[string]error{
		"ErrSyntax": canon.ErrSyntax, "ErrUTF8": canon.ErrUTF8, "ErrSurrogate": canon.ErrSurrogate, "ErrDuplicate": canon.ErrDuplicate,
		"ErrRange": canon.ErrRange, "ErrLossy": canon.ErrLossy, "ErrDepth": canon.ErrDepth, "ErrSize": canon.ErrSize,
		"ErrAbsent": canon.ErrAbsent, "ErrField": canon.ErrField, "ErrIncomplete": key.ErrIncomplete,
	}
	_, rejections := specVectors(t)
	for _, v := range rejections {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, reasons, v.Error)
			var err error
			switch {
			case v.Fields != nil:
				_, err = v.split(t)
			case v.Namespace != nil:
				var input []byte
				if v.Arguments != nil {
					input = v.text(t)
				}
				_, err = v.derive(input)
			default:
				_, err = canon.Text(nil, v.text(t))
				require.ErrorIs(t, err, reasons[v.Error])
				_, err = key.Identity{Namespace: "n", ScopeKind: "run", ScopeID: "r", Operation: "o", Input: v.text(t)}.Key()
				if len(v.text(t)) == 0 {
					err = canon.ErrSyntax // for an identity it is as good as absent
				}
			}
			require.ErrorIs(t, err, reasons[v.Error])
		})
	}
}

// TestSpecVectors_ASecondImplementationAgrees runs testdata/node/check.mjs.
func TestSpecVectors_ASecondImplementationAgrees(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("testdata", "node")
	args := []string{"check.mjs"}
	if os.Getenv("REQUIRE_SERVICES") == "1" {
		args = append(args, "--need-peers")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		missing(t, "there is no node")
	}
	out, err := exec.CommandContext(t.Context(), node, "-p", "process.versions.node").Output()
	require.NoError(t, err)
	if major, _ := strconv.Atoi(strings.Split(string(out), ".")[0]); major < 18 {
		missing(t, fmt.Sprintf("node %s is older than 18", strings.TrimSpace(string(out))))
	}
	cmd := exec.CommandContext(t.Context(), node, args...)
	cmd.Dir = folder
	out, err = cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	counts := regexp.MustCompile(`(\d+) vectors, (\d+) rejections: (\d+) passed, 0 failed`).FindSubmatch(out)
	require.NotNil(t, counts, "%s", out)
	vectors, rejections := specVectors(t)
	require.Equal(t, strconv.Itoa(len(vectors)), string(counts[1]))
	require.Equal(t, strconv.Itoa(len(rejections)), string(counts[2]))
	t.Logf("%s", out)
}

// The example of the specification is one of the vectors.
func TestSpec_ExampleIsAVector(t *testing.T) {
	t.Parallel()
	spec, err := os.ReadFile(filepath.Join("..", "docs", "spec.md"))
	require.NoError(t, err)
	found := regexp.MustCompile("eo1_[0-9a-f]{64}").FindAllString(string(spec), -1)
	require.Len(t, found, 1)
	vectors, _ := specVectors(t)
	for _, v := range vectors {
		if v.Name == "explicit key" {
			require.Equal(t, v.Key, found[0])
			require.Equal(t, `["effectonce/1","default","tenant","acme","Refund",null,"approval-4711"]`, v.Preimage)
			return
		}
	}
	t.Fatal("there is no vector of this name")
}

// missing ends a test that lacks a program.
func missing(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("REQUIRE_SERVICES") == "1" {
		t.Fatal(reason)
	}
	t.Skipf("skipped, because %s (set REQUIRE_SERVICES=1 to make this a failure)", reason)
}
