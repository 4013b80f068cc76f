package memory_test

import (
	"testing"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/memory"
	"github.com/effectonce/effectonce/store/storetest"
)

// clocked is a memory store with its clock, as storetest likes it.
type clocked struct {
	*memory.Store
	*storetest.Clock
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		clock := storetest.NewClock()
		return clocked{memory.New(memory.Options{Clock: clock.Now}), clock}
	})
}

// One store for all subtests, and the real clock: what every other backend does.
func TestStoreOnTheRealClock(t *testing.T) {
	s := memory.New(memory.Options{})
	storetest.Run(t, func(t *testing.T) store.Store { return s })
}
