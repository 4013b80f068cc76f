package dynamodb_test

import (
	"strings"
	"testing"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/dynamodb"
	"github.com/effectonce/effectonce/store/storetest"
)

// clocked is a store with its clock, as storetest likes it.
type clocked struct {
	*dynamodb.Store
	*storetest.Clock
}

func TestStore(t *testing.T) {
	t.Parallel()
	shared := table(t)
	storetest.Run(t, func(t *testing.T) store.Store {
		return openAt(t, tableFor(t, shared), storetest.NewClock())
	}, storetest.ScheduledNotUnique(), storetest.OutcomesUpTo(largest), storetest.LeasesAreWatched(peer))
}

func TestStoreOnTheRealClock(t *testing.T) {
	t.Parallel()
	shared := table(t)
	storetest.Run(t, func(t *testing.T) store.Store {
		return open(t, connect(t), dynamodb.Options{Table: tableFor(t, shared)})
	}, storetest.ScheduledNotUnique(), storetest.OutcomesUpTo(largest))
}

// largest is what the documentation promises.
const largest = 380 << 10

// peer is another process: it shares nothing with s but the table.
func peer(t *testing.T, s store.Store) store.Store {
	return openAt(t, s.(clocked).Table(), storetest.NewClock())
}

func openAt(t *testing.T, table string, clock *storetest.Clock) clocked {
	return clocked{open(t, connect(t), dynamodb.Options{Table: table}.WithClock(clock.Now)), clock}
}

// tableFor gives tests that read a whole table one of their own.
func tableFor(t *testing.T, shared string) string {
	if strings.Contains(t.Name(), "/List/") || strings.Contains(t.Name(), "/Housekeeping/") {
		return table(t)
	}
	return shared
}
