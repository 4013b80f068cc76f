package storetest

import "github.com/effectonce/effectonce/store"

// otherInput is another attempt at the key of q, with another input.
func otherInput(q store.Request) store.Request {
	q = again(q)
	q.Fingerprint, q.Fields = digest(), []byte{9}
	return q
}

var identityTests = []test{
	{"OtherFingerprintNeverClaimsAndNeverOverwrites", inEvery(func(e *env, q store.Request, r store.Record) {
		got := e.claim(otherInput(q))
		e.same("the answer to a claim with another input", got, r)
		e.same("the record", e.get(q.Ref), r)
	})},

	{"OtherFingerprintNeverTakesOver", func(e *env) {
		q := e.request(shortLease)
		r := e.over(e.won(q))
		got, err := e.TakeOver(e.ctx(), otherInput(q), r)
		e.refused(store.ErrConflict, r, got, err)
	}},

	{"FreeRecordKeepsItsFingerprint", func(e *env) {
		q := e.request()
		r := e.report(e.won(q), store.Change{Verb: store.NotApplied})
		e.claim(otherInput(q))
		e.equal("fingerprint", e.get(q.Ref).Fingerprint, r.Fingerprint)
		e.won(again(q))
	}},

	{"ForgetClearsTheFingerprintAndTheNextClaimSetsIt", inEvery(func(e *env, q store.Request, r store.Record) {
		r = e.amend(r, store.Change{Verb: store.Forget, Force: true})
		e.equal("state", r.State, store.Free)
		e.equal("fingerprint", r.Fingerprint, store.Digest{})
		e.equal("fields", len(r.Fields), 0)
		e.equal("outcome", r.Outcome, (*store.Outcome)(nil))

		other := otherInput(q)
		r = e.won(other)
		e.equal("fingerprint", r.Fingerprint, other.Fingerprint)
		e.equal("fields", string(r.Fields), string(other.Fields))
		e.same("a claim with the forgotten input", e.claim(again(q)), r)
	})},

	{"AllowRerunKeepsTheFingerprint", func(e *env) {
		q := e.request()
		r := e.amend(e.report(e.won(q), done("x")), store.Change{Verb: store.AllowRerun})
		e.equal("fingerprint", r.Fingerprint, q.Fingerprint)
		e.same("a claim with another input", e.claim(otherInput(q)), r)
		e.won(again(q))
	}},
}

// needScheduled is for what stores do not promise whose scheduled digests are not unique.
func needScheduled(run func(*env)) func(*env) {
	return func(e *env) {
		if !e.sharedScheduled {
			run(e)
		}
	}
}

// drifted is the next attempt at the scheduled activity of q, after a deploy that
// changed its key and its fingerprint.
func drifted(e *env, q store.Request) store.Request {
	d := e.request()
	d.Scheduled, d.Attempt = q.Scheduled, q.Attempt+1
	return d
}

// scheduled gives q a scheduled activity, in every situation.
func inEveryScheduled(check func(e *env, q store.Request, r store.Record)) func(*env) {
	return needScheduled(func(e *env) {
		for _, s := range situations {
			q := e.request()
			q.Scheduled = digest()
			r := s.make(e, q)
			e.within(s.name, func(e *env) { check(e, q, r) })
		}
	})
}

var driftTests = []test{
	{"OtherKeyOfTheSameScheduledActivityGetsItsRecord", inEveryScheduled(func(e *env, q store.Request, r store.Record) {
		d := drifted(e, q)
		e.same("the answer to the drifted claim", e.claim(d), r)
		e.same("the record", e.get(q.Ref), r)
		if got, err := e.Get(e.ctx(), d.Ref); err == nil {
			e.Fatalf("the drifted claim made a record of its own: %s", got.State)
		}
	})},

	{"OtherFingerprintOfTheSameScheduledActivityIsDriftNotMismatch", inEveryScheduled(func(e *env, q store.Request, r store.Record) {
		d := again(q)
		d.Fingerprint = digest()
		got := e.claim(d)
		if r.State != store.Free {
			e.same("the answer to the drifted claim", got, r)
			return
		}
		e.equal("won", got.State == store.InFlight && got.Token == d.Token, true)
		e.equal("fingerprint stays", got.Fingerprint, r.Fingerprint)
	})},

	{"OtherKeyThatHasARecordAlreadyStillGetsTheScheduledOne", inEveryScheduled(func(e *env, q store.Request, r store.Record) {
		other := e.request()
		before := e.report(e.won(other), store.Change{Verb: store.Release})
		d := again(other)
		d.Scheduled = q.Scheduled
		e.same("the answer to the drifted claim", e.claim(d), r)
		e.same("the record of the other key", e.get(other.Ref), before)
	})},

	{"TakeOverOfAnotherKeyIsRefusedWithTheScheduledRecord", needScheduled(func(e *env) {
		q := e.request()
		q.Scheduled = digest()
		r := e.report(e.won(q), done("x"))
		other := e.request(shortLease)
		seen := e.over(e.won(other))
		d := again(other)
		d.Scheduled = q.Scheduled
		got, err := e.TakeOver(e.ctx(), d, seen)
		e.refused(store.ErrConflict, r, got, err)
		e.same("the record of the other key", e.get(other.Ref), seen)
	})},

	{"RecordLeavesTheScheduledActivityThatNoLongerOwnsIt", needScheduled(func(e *env) {
		q := e.request()
		q.Scheduled = digest()
		e.report(e.won(q), store.Change{Verb: store.Release})
		next := again(q)
		next.Scheduled = digest()
		e.won(next)
		e.won(drifted(e, q)) // nothing belongs to the first activity any more
	})},

	{"RecordsWithoutAScheduledActivityAreNotRelated", func(e *env) {
		e.won(e.request())
		e.won(e.request())
	}},
}
