// Package key names actions: it turns the parts of an identity into a [Key].
//
// A key is the SHA-256 of one canonical JSON array (the preimage), so that no two
// parts can run into each other:
//
//	["effectonce/1", namespace, scope kind, scope id, operation, intent or null, [input…]]
//	["effectonce/1", namespace, scope kind, scope id, operation, intent or null, "explicit key"]
//	["effectonce/1", namespace, "call", call token]
//
//	id := key.Identity{Namespace: "default", ScopeKind: "tenant", ScopeID: "acme",
//		Operation: "Refund", Input: []byte(`[{"order_id":7}]`)}
//	k, err := id.Key() // eo1_…
//
// # Promises
//
// Equal identities give equal keys, on every machine and Go version; different
// identities give different keys. The text form is "eo1_" and 64 lower-case
// hexadecimal digits. Nothing that changes between attempts, resets or deploys
// (attempt numbers, run IDs, times, random values) belongs into an identity.
//
// # Errors
//
//	a part is missing                 → ErrIncomplete
//	a part is not valid UTF-8         → an error that wraps canon.ErrRefused
//	the input is not a canonical array → an error that wraps canon.ErrRefused or ErrIncomplete
//	the text is not a key              → ErrSyntax
//
// # Concurrency
//
// Everything here is a pure function of its arguments and safe for concurrent use.
package key
