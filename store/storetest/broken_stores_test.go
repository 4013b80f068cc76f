package storetest_test

import (
	"context"
	"slices"
	"time"

	"github.com/effectonce/effectonce/store"
)

// brokenStores names ways to be wrong. Some are as small as one field.
func brokenStores() map[string]func(*broken) {
	all := map[string]func(*broken){
		"takes any report": func(b *broken) {
			b.report = func(held *store.Claim, _ *store.Change) { *held = b.now(held.Ref).Claim() }
		},
		"ignores the fence of a report": func(b *broken) {
			b.report = func(held *store.Claim, _ *store.Change) {
				if now := b.now(held.Ref); now.Token == held.Token {
					held.Fence = now.Fence
				}
			}
		},
		"ignores the token of a report": func(b *broken) {
			b.report = func(held *store.Claim, _ *store.Change) {
				if now := b.now(held.Ref); now.Fence == held.Fence {
					held.Token = now.Token
				}
			}
		},
		"claims over another input": func(b *broken) {
			b.claim = func(q *store.Request) {
				if now := b.now(q.Ref); now.Fingerprint != (store.Digest{}) {
					q.Fingerprint = now.Fingerprint
				}
			}
		},
		"takes over another input": func(b *broken) {
			b.takeOver = func(q *store.Request, seen *store.Record) { q.Fingerprint = seen.Fingerprint }
		},
		"takes over what was not seen": func(b *broken) {
			b.takeOver = func(q *store.Request, seen *store.Record) { *seen = b.now(q.Ref) }
		},
		"does not know a repeated claim": func(b *broken) {
			owned := map[store.Token]bool{}
			b.claimed = func(q store.Request, r *store.Record, _ *error) {
				if owned[q.Token] {
					r.Token = store.NewToken()
				}
				owned[r.Token] = true
			}
		},
		"lets two claim": func(b *broken) {
			b.claimed = func(q store.Request, r *store.Record, _ *error) {
				if r.State == store.InFlight && r.Ref == q.Ref && r.Fingerprint == q.Fingerprint {
					r.Token = q.Token
				}
			}
		},
		"never loses a claim": func(b *broken) {
			b.renewed = func(_ time.Duration, _ []store.Claim, lost *[]store.Claim) { *lost = nil }
		},
		"loses every claim": func(b *broken) {
			b.renewed = func(_ time.Duration, held []store.Claim, lost *[]store.Claim) { *lost = held }
		},
		"restarts the fence after forget": func(b *broken) {
			restarted := map[store.Ref]bool{}
			b.amend = func(seen *store.Record, c *store.Change) { restarted[seen.Ref] = c.Verb == store.Forget }
			b.claimed = func(q store.Request, r *store.Record, _ *error) {
				if restarted[q.Ref] {
					r.Fence = 1
				}
			}
		},
		"believes at once that nothing happened, by others": func(b *broken) {
			b.amend = func(_ *store.Record, c *store.Change) { c.Force = c.Force || c.Who != "" && c.Verb != "" }
		},
		"believes the settle of owners to be zero": func(b *broken) {
			b.report = func(_ *store.Claim, c *store.Change) { c.Settle = min(c.Settle, 0) }
		},
		"overrides without being told to": func(b *broken) {
			b.amend = func(_ *store.Record, c *store.Change) { c.Override = true }
		},
		"needs nobody to amend": func(b *broken) {
			b.amend = func(_ *store.Record, c *store.Change) { c.Who += "nobody" }
		},
		"cuts long text": func(b *broken) {
			b.out = func(r *store.Record) { r.Operation = r.Operation[:min(len(r.Operation), 255)] }
		},
		"cuts bytes at NUL": func(b *broken) {
			b.out = func(r *store.Record) {
				if i := slices.Index(r.Fields, 0); i >= 0 {
					r.Fields = r.Fields[:i]
				}
			}
		},
		"keeps milliseconds": func(b *broken) {
			b.out = func(r *store.Record) { r.Lease = r.Lease.Truncate(time.Millisecond) }
		},
		"keeps nanoseconds": func(b *broken) {
			b.out = func(r *store.Record) { r.Created = r.Created.Add(time.Nanosecond) }
		},
		"drops the outcome early": func(b *broken) {
			b.out = func(r *store.Record) {
				if r.Retention > 0 && !r.Now.Before(r.Expires) {
					r.Outcome = nil
				}
			}
		},
		"shares slices": func(b *broken) {
			shared := map[store.Ref]*store.Outcome{}
			b.out = func(r *store.Record) {
				if o := shared[r.Ref]; o != nil && r.Outcome != nil && o.Format != "" {
					r.Outcome = o
				}
				shared[r.Ref] = r.Outcome
			}
		},
		"claims although the context is done": func(b *broken) {
			b.claimed = func(q store.Request, _ *store.Record, err *error) {
				if *err == context.Canceled {
					b.Store.Claim(context.Background(), q) //nolint:errcheck // that is what is broken
				}
			}
		},
		"forgets the first line of history": func(b *broken) {
			b.history = func(h []store.Entry) []store.Entry { return h[min(1, len(h)):] }
		},
		"writes renewals into history": func(b *broken) {
			b.history = func(h []store.Entry) []store.Entry { return append(h, store.Entry{Verb: store.Resumed}) }
		},
		"tells history backwards": func(b *broken) {
			b.history = func(h []store.Entry) []store.Entry { slices.Reverse(h); return h }
		},
		"miscounts what it swept": func(b *broken) { b.tidied = func(n *int) { *n = min(*n, 1) } },
		"prunes what outlives runs": func(b *broken) {
			b.prunes = func(p store.Prune, r store.Record) bool { r.Root[0] |= 1; return p.Matches(r) }
		},
		"prunes every kind": func(b *broken) {
			b.prunes = func(p store.Prune, r store.Record) bool { p.Kinds = []string{r.ScopeKind}; return p.Matches(r) }
		},
		"prunes what is young": func(b *broken) { b.prune = func(p *store.Prune) { p.Age = min(p.Age, 1) } },
		"prunes as much as it likes": func(b *broken) {
			b.prune = func(p *store.Prune) { p.Limit *= 1000 }
		},
		"prunes without being told what": func(b *broken) {
			b.prune = func(p *store.Prune) { p.Kinds = append(p.Kinds, "more") }
		},
		"keeps the history of what it pruned": func(b *broken) {
			told := map[store.Ref][]store.Entry{}
			b.history = func(h []store.Entry) []store.Entry {
				if len(h) == 0 {
					return h
				}
				b.mu.Lock()
				defer b.mu.Unlock()
				if before := told[h[0].Ref]; len(before) > 0 && before[0].Token != h[0].Token {
					return append(before, h...)
				}
				told[h[0].Ref] = h
				return h
			}
		},
		"gives all it has, whatever the limit": func(b *broken) {
			b.filter = func(f *store.Filter) { f.Limit = store.MaxLimit }
		},
	}
	for _, name := range fields[store.Request]("Ref", "Token", "Fingerprint", "Lease", "Remaining", "Excluded", "Settle") {
		all["forgets Request."+name] = func(b *broken) {
			b.claim = zero[store.Request](name)
			b.takeOver = func(q *store.Request, _ *store.Record) { zero[store.Request](name)(q) }
		}
	}
	for _, name := range fields[store.Record]("Ref", "Now") {
		all["forgets Record."+name] = func(b *broken) { b.out = zero[store.Record](name) }
	}
	for _, name := range fields[store.Filter]() {
		all["ignores Filter."+name] = func(b *broken) { b.filter = zero[store.Filter](name) }
	}
	for _, name := range fields[store.Entry]() {
		all["forgets Entry."+name] = func(b *broken) {
			b.history = func(h []store.Entry) []store.Entry {
				for i := range h {
					zero[store.Entry](name)(&h[i])
				}
				return h
			}
		}
	}
	for _, state := range []store.State{store.InFlight, store.Pending, store.Free, store.Unknown} {
		all["prunes what is "+string(state)] = func(b *broken) {
			b.prunes = func(p store.Prune, r store.Record) bool {
				return r.State == state && slices.Contains(p.Kinds, r.ScopeKind) && r.Root != [16]byte{}
			}
		}
	}
	// What Amend compares: one field at a time is taken from the record as it is.
	for _, name := range []string{"Token", "Fence", "State", "Generation", "Finished"} {
		all["amends whatever "+name+" was seen"] = func(b *broken) {
			b.amend = func(seen *store.Record, _ *store.Change) { copyField(seen, b.now(seen.Ref), name) }
		}
	}
	return all
}
