package interceptor_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/store/memory"
)

// bank is an outside system that can be asked what it did under a key.
type bank struct {
	mu   sync.Mutex
	done map[string][]int // key → items
}

func (b *bank) pay(key string, item int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done[key] = append(b.done[key], item)
	return fmt.Sprintf("receipt %d", item)
}

func (b *bank) ask(_ context.Context, q interceptor.Question) (interceptor.Answer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	items := b.done[q.Key]
	if len(items) == 0 {
		return interceptor.NotApplied(), nil
	}
	return interceptor.Applied(fmt.Sprintf("receipt %d", items[0])), nil
}

func (b *bank) effects() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, items := range b.done {
		n += len(items)
	}
	return n
}

func batchPolicy(b *bank) interceptor.Policy {
	return interceptor.Policy{
		Scope: effectonce.Namespace, Unknown: interceptor.Rerun(), Lease: time.Second,
		SubEffects: map[string]interceptor.Unknown{"pay": interceptor.Reconcile(b.ask)},
	}
}

func TestDo_ABatchHasOneEffectPerItemUnderACrashAtEveryPoint(t *testing.T) {
	t.Parallel()
	const items = 4
	for point := range 2 * items { // before and after each effect
		for _, how := range []string{"panic", "lost answer"} {
			t.Run(fmt.Sprintf("%s at point %d", how, point), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					b := &bank{done: map[string][]int{}}
					crashed := false
					crash := func(at int) error {
						if crashed || at != point {
							return nil
						}
						if crashed = true; how == "panic" {
							panic("crash")
						}
						return io.ErrUnexpectedEOF
					}
					w := newWorld(t, batchPolicy(b), func(ctx context.Context, _ int, _ chargeIn) (receipt, error) {
						for item := range items {
							got, err := effectonce.Do(ctx, "pay", item, func(ctx context.Context) (string, error) {
								if err := crash(2 * item); err != nil {
									return "", err
								}
								r := b.pay(effectonce.Current(ctx).Key(), item)
								return r, crash(2*item + 1)
							})
							if err != nil {
								return receipt{}, err
							}
							require.Equal(t, fmt.Sprintf("receipt %d", item), got)
						}
						return receipt{ID: "all", Cents: items}, nil
					})
					_, err := w.attempt(order7)
					require.Error(t, err)
					time.Sleep(time.Hour) // settling
					out, err := w.attempt(order7)
					require.NoError(t, err)
					require.Equal(t, receipt{"all", items}, out)
					require.Equal(t, items, b.effects())
					_, err = w.attempt(order7)
					require.NoError(t, err)
					require.Equal(t, 2, w.runs(), "the whole batch is answered from its record then")
				})
			})
		}
	}
}

func TestDo_HasItsOwnKeyFromTheActivitys(t *testing.T) {
	t.Parallel()
	b := &bank{done: map[string][]int{}}
	keys := map[string]bool{}
	w := newWorld(t, batchPolicy(b), func(ctx context.Context, _ int, _ chargeIn) (receipt, error) {
		keys[effectonce.Current(ctx).Key()] = true
		for item := range 2 {
			_, err := effectonce.Do(ctx, "pay", item, func(ctx context.Context) (struct{}, error) {
				keys[effectonce.Current(ctx).Key()] = true
				return struct{}{}, nil
			})
			require.NoError(t, err)
		}
		return receipt{}, nil
	})
	_, err := w.attempt(order7)
	require.NoError(t, err)
	require.Len(t, keys, 3)
	require.Len(t, w.records(), 3)
}

func TestDo_Refuses(t *testing.T) {
	t.Parallel()
	b := &bank{done: map[string][]int{}}
	do := func(operations ...string) (int, error) {
		w := newWorldOn(t, memory.New(memory.Options{}), batchPolicy(b), func(ctx context.Context, _ int, _ chargeIn) (receipt, error) {
			for _, operation := range operations {
				if _, err := effectonce.Do(ctx, operation, "same", func(context.Context) (int, error) { return 1, nil }); err != nil {
					return receipt{}, err
				}
			}
			return receipt{}, nil
		})
		_, err := w.attempt(order7)
		return len(w.records()), err
	}
	var app *temporal.ApplicationError

	records, err := do("pay", "pay")
	require.ErrorAs(t, err, &app)
	require.Equal(t, effectonce.ErrTypeInput, app.Type())
	require.True(t, app.NonRetryable(), "the same twice in one attempt is a bug of the body")
	require.Equal(t, 2, records)

	records, err = do("mail")
	require.ErrorAs(t, err, &app)
	require.Contains(t, app.Message(), "SubEffects")
	require.False(t, app.NonRetryable(), "a deploy can cure it")
	require.Equal(t, 1, records)
}

func TestDo_WithoutTheInterceptorOnlyRunsIt(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	got, err := effectonce.Do(context.Background(), "pay", 1, func(ctx context.Context) (string, error) {
		require.Empty(t, effectonce.Current(ctx).Key())
		return "x", failed
	})
	require.Equal(t, "x", got)
	require.Equal(t, failed, err)
}

func TestDo_ThatFailedMayBeTriedAgainInTheSameAttempt(t *testing.T) {
	t.Parallel()
	p := interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Rerun(), SubEffects: map[string]interceptor.Unknown{"pay": interceptor.Rerun()}}
	w := newWorld(t, p, func(ctx context.Context, run int, in chargeIn) (receipt, error) {
		tries := 0
		pay := func(context.Context) (int, error) {
			if tries++; tries == 1 {
				return 0, effectonce.NotApplied(errors.New("too busy"))
			}
			return tries, nil
		}
		_, err := effectonce.Do(ctx, "pay", in.Order, pay)
		require.ErrorContains(t, err, "too busy")
		if _, err := effectonce.Do(ctx, "pay", in.Order, pay); err != nil {
			return receipt{}, err
		}
		return succeed(ctx, run, in)
	})
	_, err := w.attempt(order7)
	require.NoError(t, err)
}
