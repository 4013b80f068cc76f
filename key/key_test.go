package key_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/effectonce/effectonce/canon"
	"github.com/effectonce/effectonce/key"
)

// vector is one line of testdata/handwritten.json. The preimages there are written
// by hand from the specification, their digests made by another program.
type vector struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	ScopeKind string `json:"scope_kind"`
	ScopeID   string `json:"scope_id"`
	Operation string `json:"operation"`
	Intent    string `json:"intent"`
	Explicit  string `json:"explicit"`
	Input     string `json:"input"`
	CallToken string `json:"call_token"`
	Preimage  string `json:"preimage"`
	Key       string `json:"key"`
}

func TestHandwrittenVectors(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/handwritten.json")
	require.NoError(t, err)
	var vectors []vector
	require.NoError(t, json.Unmarshal(data, &vectors))
	require.GreaterOrEqual(t, len(vectors), 20)
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			if v.CallToken != "" {
				k, err := key.OfCall(v.Namespace, v.CallToken)
				require.NoError(t, err)
				require.Equal(t, v.Key, k.String())
				return
			}
			id := key.Identity{
				Namespace: v.Namespace, ScopeKind: v.ScopeKind, ScopeID: v.ScopeID, Operation: v.Operation,
				Intent: v.Intent, Explicit: v.Explicit, Input: []byte(v.Input),
			}
			pre, err := id.Preimage()
			require.NoError(t, err)
			require.Equal(t, v.Preimage, string(pre))
			k, err := id.Key()
			require.NoError(t, err)
			require.Equal(t, v.Key, k.String())
		})
	}
}

func TestIdentity_NothingIsLeftOut(t *testing.T) {
	t.Parallel()
	full := key.Identity{Namespace: "n", ScopeKind: "run", ScopeID: "r", Operation: "o", Input: []byte("[]")}
	for name, change := range map[string]func(*key.Identity){
		"namespace":  func(id *key.Identity) { id.Namespace = "" },
		"scope kind": func(id *key.Identity) { id.ScopeKind = "" },
		"operation":  func(id *key.Identity) { id.Operation = "" },
		"input":      func(id *key.Identity) { id.Input = nil },
		"not a list": func(id *key.Identity) { id.Input = []byte(`"x"`) },
	} {
		id := full
		change(&id)
		_, err := id.Key()
		require.ErrorIs(t, err, key.ErrIncomplete, name)
	}
	_, err := full.Of(canon.Split{}).Key()
	require.ErrorIs(t, err, key.ErrIncomplete, "a Split that failed")
	other := full.Of(canon.Split{Identity: []byte("[1]")})
	other.Input = []byte("[1,]")
	_, err = other.Key()
	require.ErrorIs(t, err, canon.ErrRefused, "an input that has been put in its place")
	_, err = key.OfCall("n", "")
	require.ErrorIs(t, err, key.ErrIncomplete)
	_, err = key.OfCall("", "t")
	require.ErrorIs(t, err, key.ErrIncomplete)

	bad := full
	bad.ScopeID = "\xff"
	_, err = bad.Key()
	require.ErrorIs(t, err, canon.ErrRefused, "two broken texts must not become one key")
	bad = full
	bad.Input = []byte(`[1,]`)
	_, err = bad.Key()
	require.ErrorIs(t, err, canon.ErrRefused)
	bad.Input = []byte(`[1],[2]`)
	_, err = bad.Key()
	require.ErrorIs(t, err, canon.ErrRefused, "an input cannot add elements to the preimage")
}

// TestIdentity_DifferentPartsGiveDifferentKeys: framing holds for any texts.
func TestIdentity_DifferentPartsGiveDifferentKeys(t *testing.T) {
	t.Parallel()
	text := rapid.StringMatching(`["\\,\[\]a-c]{1,4}`)
	identity := rapid.Custom(func(t *rapid.T) key.Identity {
		id := key.Identity{
			Namespace: text.Draw(t, "namespace"), ScopeKind: text.Draw(t, "kind"), ScopeID: text.Draw(t, "id"),
			Operation: text.Draw(t, "operation"), Intent: rapid.SampledFrom([]string{"", "null", "a"}).Draw(t, "intent"),
		}
		if rapid.Bool().Draw(t, "explicit") {
			id.Explicit = text.Draw(t, "key")
			return id
		}
		input, err := canon.Value(nil, []any{text.Draw(t, "argument")})
		if err != nil {
			t.Fatal(err)
		}
		id.Input = input
		return id
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := identity.Draw(t, "a"), identity.Draw(t, "b")
		ka, err := a.Key()
		require.NoError(t, err)
		kb, err := b.Key()
		require.NoError(t, err)
		same := a.Namespace == b.Namespace && a.ScopeKind == b.ScopeKind && a.ScopeID == b.ScopeID && a.Operation == b.Operation &&
			a.Intent == b.Intent && a.Explicit == b.Explicit && string(a.Input) == string(b.Input)
		require.Equal(t, same, ka == kb)
	})
}

func TestParse(t *testing.T) {
	t.Parallel()
	k, err := key.OfCall("n", "t")
	require.NoError(t, err)
	back, err := key.Parse(k.String())
	require.NoError(t, err)
	require.Equal(t, k, back)
	hex := strings.Repeat("ab", 32)
	for name, text := range map[string]string{
		"empty": "", "no prefix": hex, "other version": "eo2_" + hex, "short": "eo1_" + hex[2:], "long": "eo1_" + hex + "ab",
		"upper case": "eo1_" + strings.ToUpper(hex), "not hexadecimal": "eo1_" + hex[:62] + "zz", "with a generation": "eo1_" + hex + "-2", "space": " eo1_" + hex,
	} {
		_, err := key.Parse(text)
		require.ErrorIs(t, err, key.ErrSyntax, name)
		var into key.Key
		require.ErrorIs(t, into.UnmarshalText([]byte(text)), key.ErrSyntax, name)
		require.True(t, into.IsZero(), name)
	}
}

func TestDownstreamAndUUID(t *testing.T) {
	t.Parallel()
	var k key.Key
	zeros := "eo1_" + strings.Repeat("0", 64)
	require.Equal(t, zeros, k.Downstream(1))
	require.Equal(t, zeros+"-2", k.Downstream(2))
	require.Equal(t, zeros+"-17", k.Downstream(17))
	require.Equal(t, "7a008234-2c05-8d01-a47a-68f4e7e0e363", key.UUID(zeros))
	require.Equal(t, "570fd4f3-ff43-85d5-9bf3-3284473a229c", key.UUID(zeros+"-2"))
}
