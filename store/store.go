package store

import (
	"context"
	"time"

	"github.com/effectonce/effectonce/key"
)

// Request asks for the right to run an action.
type Request struct {
	Ref
	Token Token // made by the caller, once per attempt, before the first try. Required.

	Namespace  string
	ScopeKind  string
	ScopeID    string
	Tenant     string
	Operation  string
	Intent     string
	WorkflowID string
	RunID      string
	Attempt    int

	Scheduled   Digest // see [Record]; requests with equal ones have equal run IDs
	Fingerprint Digest // required
	Fields      []byte

	Lease     time.Duration // how long the claim lives without renewal; must be positive
	Remaining time.Duration // time left until the attempt's deadline, measured before the request was sent; must be positive
	Retention time.Duration // how long the outcome is kept after completion; 0 means for ever

	// Excluded, for TakeOver, says that the effect of every earlier attempt is
	// known not to have happened: somebody asked, Settle after their deadlines.
	// Earlier, it is refused with [ErrUnsettled].
	Excluded bool
	Settle   time.Duration

	Who string // for the history: which worker asks
}

// Verb is what a change does.
type Verb string

// The verbs. Report and Amend take those of the first group; Amend also takes
// the second; the third appears only in the history.
const (
	Complete    Verb = "complete"     // the effect happened; the outcome says with what result
	Fail        Verb = "fail"         // it failed for good
	Release     Verb = "release"      // running it again is safe; same generation
	NotApplied  Verb = "not_applied"  // it did not happen: free, as a new request (see Generation)
	MarkUnknown Verb = "mark_unknown" // nobody knows
	Suspend     Verb = "suspend"      // an outside system will report

	AllowRerun Verb = "allow_rerun" // run it once more, with the same input, although it was done
	Forget     Verb = "forget"      // as if it had never been asked; any input may follow

	Claimed  Verb = "claim"
	TookOver Verb = "take_over"
	Resumed  Verb = "resume" // renewed after the lease was over
	Swept    Verb = "sweep"  // lease found over
	Expired  Verb = "expire" // outcome dropped
)

// Change is one transition of a record.
type Change struct {
	Verb    Verb
	Outcome *Outcome // for Complete and Fail; required there

	// Settle is how long after the deadline of an attempt its request may still
	// arrive. "It did not happen" is refused before, with [ErrUnsettled].
	Settle time.Duration
	// For is how long an outside system may take, for Suspend.
	For time.Duration
	// Force lets an operator skip the wait for settling. Amend only.
	Force bool
	// Override lets Complete and Fail replace a finished outcome. Amend only.
	Override bool

	Who string // for the history; required for Amend
	Why string
}

// Store records what became of each action. doc.go has the rules that all
// methods share: states, clock, errors, and what may be repeated safely. All
// methods are safe for concurrent use.
type Store interface {
	// Claim claims the record of r, or returns what is there, in one durable
	// step. The caller owns the action iff the returned record is in flight with
	// r.Token. A free record is claimed if its fingerprint matches (or is zero, or
	// its scheduled activity is the same). If another record belongs to the same
	// scheduled activity, that record is returned, whatever its key.
	Claim(ctx context.Context, r Request) (Record, error)

	// TakeOver claims a record whose outcome is unknown, if it is still as seen and
	// its fingerprint matches as for Claim. Otherwise it returns the record as it
	// is now and [ErrConflict]; if another record belongs to the same scheduled
	// activity, it returns that one and [ErrConflict].
	TakeOver(ctx context.Context, r Request, seen Record) (Record, error)

	// Renew extends leases to lease from now, which must be positive, and returns
	// the claims that are lost: taken over, revoked, finished, or without a record.
	// A claim that its owner has ended (released, marked unknown, suspended) stays
	// ended and is not lost. An error is not a loss: nothing is known, and some
	// leases may have been extended.
	Renew(ctx context.Context, lease time.Duration, held []Claim) (lost []Claim, err error)

	// Report records what became of the caller's own claim. It is accepted while
	// nobody took over, also after the lease. Otherwise it returns the record as
	// it is now and [ErrLeaseLost]. [ErrUnsettled] refuses NotApplied while the
	// request of an earlier attempt may still be under way; [ErrConflict] refuses
	// MarkUnknown of anything but a claim in flight.
	Report(ctx context.Context, held Claim, c Change) (Record, error)

	// Amend changes a record on behalf of somebody who does not own it: an
	// operator or a reconciler. It is accepted if the record is still as seen;
	// otherwise it returns the record as it is now and [ErrConflict].
	Amend(ctx context.Context, seen Record, c Change) (Record, error)

	// Get returns the record of ref, or [ErrNotFound].
	Get(ctx context.Context, ref Ref) (Record, error)
}

// Lister is an optional power of a Store: finding records by what they say.
type Lister interface {
	// Lookup finds a record by its key alone, or returns [ErrNotFound]. It may
	// be slow: it is for people.
	Lookup(ctx context.Context, k key.Key) (Record, error)
	// List returns records in the order of their refs, at most f.Limit of them.
	List(ctx context.Context, f Filter) ([]Record, error)
}

// Filter selects records. Zero fields match everything.
type Filter struct {
	State      State // as stored; see Uncertain for what nobody knows
	Uncertain  bool  // only records whose outcome is unknown now, written down or not
	ScopeKind  string
	ScopeID    string
	Tenant     string
	Operation  string
	WorkflowID string
	After      Ref // start behind this one: the last of the page before
	Limit      int // default 100; more than 1,000 is 1,000
}

// Historian is an optional power of a Store: the history of a record.
type Historian interface {
	// History returns the changes of a record, oldest first, or [ErrNotFound]. A
	// renewal is in it only if the lease was over ([Resumed]); a refused call never is.
	// A store that keeps only so many says so; its first entry then has a From.
	History(ctx context.Context, ref Ref) ([]Entry, error)
}

// Entry is one line of the history: who changed what, and why.
type Entry struct {
	Ref
	At         time.Time
	Verb       Verb
	From, To   State // From is empty for the first claim
	Token      Token // of the claim after the change
	Fence      int64
	Generation int
	Attempt    int
	WorkflowID string
	RunID      string
	Who, Why   string // as the caller said; empty for Resumed, Swept and Expired
}

// Notifier is an optional power of a Store: telling those who wait for somebody else's
// action when to look again.
type Notifier interface {
	// Watch returns a channel that may receive when the record of ref may have changed.
	// It is a hint, which can come for nothing, and too late, or never: whoever waits
	// also looks from time to time. It costs the store something until ctx is done.
	Watch(ctx context.Context, ref Ref) <-chan struct{}
}

// Transactor is an optional power of a Store: it has a method CommitTx, which commits
// a transaction of an activity's body on the records' own database together with the
// action's outcome. What a transaction is, its driver says.
type Transactor interface {
	// CommitsTx does nothing: it says that there is a CommitTx.
	CommitsTx()
}

// Janitor is an optional power of a Store: bounded housekeeping. Both methods
// are safe beside everything else, change at most limit records (which must be
// positive) and return how many.
type Janitor interface {
	// Sweep writes down that records whose lease is over are unknown.
	Sweep(ctx context.Context, limit int) (int, error)
	// Expire drops outcomes whose retention is over. Rows stay.
	Expire(ctx context.Context, limit int) (int, error)
}

// Pruner is an optional power of a Store: deleting what nobody can ask for any more.
type Pruner interface {
	// Prune deletes records with their history, for good, and returns how many: of those
	// that p selects, which are finished and belong to a run, at most p.Limit. It is safe
	// beside everything else, and passes over what somebody is just writing. Nothing but
	// this call deletes a record. After an error more may be gone than it counted;
	// repeating the call is safe.
	//
	// A record that is gone is an action that was never asked for: whoever asks for it
	// again has it done again, from fence 1 and generation 1.
	Prune(ctx context.Context, p Prune) (int, error)
}

// Prune selects records to delete: only completed and failed ones, and only those with
// a root. Scopes that outlive runs have none, and their records are never deleted.
type Prune struct {
	// Kinds are the kinds of scope whose records may go. Required.
	Kinds []string
	// Age is how long ago a record must have finished at least, by the store's clock.
	// It must be positive, and longer than anybody can still ask: a run that lives, or
	// that its server still keeps, can be reset to its beginning.
	Age time.Duration
	// Limit is how many records go at most; must be positive.
	Limit int
}
