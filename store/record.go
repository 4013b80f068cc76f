package store

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/effectonce/effectonce/key"
)

// Ref addresses the record of one action.
type Ref struct {
	// Root is where a store may cluster the record: the first 16 bytes of the run
	// ID that the scope hangs on, zero for scopes that outlive runs. It is a
	// function of Key: equal keys always come with equal roots.
	Root [16]byte
	Key  key.Key
}

// Token proves ownership of a claim. Its owner makes it at random before the
// first try, so that a claim whose answer was lost can be recognised.
type Token [16]byte

// NewToken returns a random token.
func NewToken() Token {
	var t Token
	rand.Read(t[:]) // never fails: see crypto/rand
	return t
}

// String returns the token in hexadecimal.
func (t Token) String() string { return hex.EncodeToString(t[:]) }

// Digest is a SHA-256. The zero Digest means "none".
type Digest [32]byte

// Claim is one claim of one record: who owned it, and the fence of that claim.
// A token alone may come back (its owner's delayed second try); together with the
// fence it cannot.
type Claim struct {
	Ref
	Token Token
	Fence int64
}

// State is the state of a record.
type State string

// The states of a record; doc.go has the picture.
const (
	InFlight  State = "in_flight" // claimed; live while the lease runs, unknown from the moment it is over
	Pending   State = "pending"   // handed to an outside system, which will report
	Completed State = "completed" // done, with a result
	Failed    State = "failed"    // failed for good: a failure declared final
	Free      State = "free"      // not done, or safe to run again: claimable
	Unknown   State = "unknown"   // nobody knows whether the effect happened
)

// Outcome is what became of an action, as bytes that the store keeps verbatim.
type Outcome struct {
	Format  string // how Data is to be read; chosen by the writer, never empty
	Data    []byte // nil and empty are the same
	Context []byte // what a context-bound codec needs to read Data again
}

// Equal reports whether two outcomes are the same bytes.
func (o *Outcome) Equal(p *Outcome) bool {
	if o == nil || p == nil {
		return o == p
	}
	return o.Format == p.Format && bytes.Equal(o.Data, p.Data) && bytes.Equal(o.Context, p.Context)
}

// Record is the one lasting row of an action. It is never deleted by the protocol.
type Record struct {
	Ref

	// Readable columns, from the request of the last claim.
	Namespace  string
	ScopeKind  string
	ScopeID    string
	Tenant     string
	Operation  string
	Intent     string
	WorkflowID string
	RunID      string
	Attempt    int

	// Scheduled identifies the scheduled activity that claimed last; zero if it
	// has no such identity. No two records share one (stores that cannot promise
	// this say so).
	Scheduled Digest
	// Fingerprint covers every input field that must not differ under one key.
	// Zero after forget: the next claim sets it.
	Fingerprint Digest
	Fields      []byte // per-field digests of the fingerprint, to name what differs; opaque here

	State State
	Token Token // of the last claim; zero once revoked
	Fence int64 // grows with every claim, from 1
	// Generation counts intended runs, from 1. It grows with NotApplied, AllowRerun
	// and Forget, because what follows is a new request; with an owner's NotApplied
	// only if no attempt before it ended without saying what became of its request.
	Generation int

	Lease    time.Time // until when the claim is live; for pending, until when the outside system may report
	Deadline time.Time // of the last attempt, while its request may still be under way; zero once that is excluded
	Prior    time.Time // the latest such deadline of the attempts before the last one

	Outcome   *Outcome // nil unless completed or failed, and nil again once its retention is over
	Retention time.Duration
	Created   time.Time
	Finished  time.Time // zero unless completed or failed
	Expires   time.Time // when the outcome may be dropped at the earliest; zero means never

	// Now is the store's clock when the record was read. Leases and deadlines
	// are to be compared with it, never with the reader's clock.
	Now time.Time
}

// Claim returns the claim under which the record is, for compare-and-set.
func (r Record) Claim() Claim { return Claim{Ref: r.Ref, Token: r.Token, Fence: r.Fence} }

// Done reports whether the record is completed or failed.
func (r Record) Done() bool { return r.State == Completed || r.State == Failed }

// Live reports whether somebody is at work: in flight or pending, and not overdue.
func (r Record) Live() bool {
	return (r.State == InFlight || r.State == Pending) && r.Now.Before(r.Lease)
}

// Uncertain reports whether nobody knows if the effect happened: unknown, or in
// flight or pending and overdue. An expired lease is unknown from that moment,
// whether or not a sweeper has written it down.
func (r Record) Uncertain() bool {
	return r.State == Unknown || (r.State == InFlight || r.State == Pending) && !r.Live()
}

// SettledAt returns the moment from which "it did not happen" may be believed:
// settle after the latest deadline of every attempt whose request may still be
// under way. The zero time means at once.
func (r Record) SettledAt(settle time.Duration) time.Time {
	return settledAt(later(r.Deadline, r.Prior), settle)
}

// Expired reports whether the outcome of a finished record is no longer kept.
func (r Record) Expired() bool { return r.Done() && r.Outcome == nil }

func settledAt(deadline time.Time, settle time.Duration) time.Time {
	if deadline.IsZero() {
		return time.Time{}
	}
	return deadline.Add(settle)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
