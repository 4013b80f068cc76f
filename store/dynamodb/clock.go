package dynamodb

import "time"

// steady returns a clock that shows the time of the host as it was at first, and goes
// on by the monotonic clock: when the host's is set, no lease ends early or late.
func steady() func() time.Time {
	began := time.Now()
	return func() time.Time { return began.Add(time.Since(began)) }
}

// now is in whole microseconds, as in every store.
func (s *Store) now() time.Time { return s.opts.clock().UTC().Truncate(time.Microsecond) }
