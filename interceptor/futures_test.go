package interceptor

import (
	"runtime"
	"strconv"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/workflow"
)

// done is the future of a call that has ended, and holds its result.
type done struct {
	workflow.Future
	result []byte
}

func (*done) IsReady() bool                   { return true }
func (*done) Get(workflow.Context, any) error { return nil }

func TestCalls_KeepNoResultOfACallThatHasEnded(t *testing.T) {
	t.Parallel()
	c := newCalls(afterAnyError)
	var futures []weak.Pointer[done]
	for i := range 10 {
		_, opened := c.take(nil, strconv.Itoa(i)) // ten different calls
		f := &done{result: make([]byte, 1<<10)}
		futures = append(futures, weak.Make(f))
		opened(f)
	}
	runtime.GC()
	runtime.GC()
	kept := 0
	for _, f := range futures {
		if f.Value() != nil {
			kept++
		}
	}
	require.LessOrEqual(t, kept, 1, "only the last one is looked at with the next call")
	runtime.KeepAlive(c)
}
