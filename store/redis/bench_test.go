package redis_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	driver "github.com/redis/go-redis/v9"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/redis"
)

// An action is a claim and a report, by many goroutines at once.
func BenchmarkActions(b *testing.B) {
	options, err := driver.ParseURL(services.Redis(b))
	if err != nil {
		b.Fatal(err)
	}
	client := driver.NewClient(options)
	defer client.Close() //nolint:errcheck // a benchmark
	s, err := redis.New(b.Context(), client, redis.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // a benchmark
	data := string(make([]byte, 120))
	for _, callers := range []int{1, 8, 64, 256} {
		b.Run(fmt.Sprintf("c=%d", callers), func(b *testing.B) {
			var begun atomic.Int64
			var working sync.WaitGroup
			for range callers {
				working.Go(func() {
					for begun.Add(1) <= int64(b.N) {
						r, err := s.Claim(b.Context(), request())
						if err == nil {
							_, err = s.Report(b.Context(), r.Claim(), done(data))
						}
						if err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			working.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "actions/s")
		})
	}
	memory(b, client, s)
}

// memory tells what a record costs, indexes and history included.
func memory(b *testing.B, client *driver.Client, s store.Store) {
	b.Run("memory", func(b *testing.B) {
		used := func() (n int64) {
			info, err := client.InfoMap(b.Context(), "memory").Result()
			if err != nil {
				b.Fatal(err)
			}
			_, _ = fmt.Sscan(info["Memory"]["used_memory"], &n)
			return n
		}
		before := used()
		for range b.N {
			r, err := s.Claim(b.Context(), request())
			if err == nil {
				_, err = s.Report(b.Context(), r.Claim(), done(string(make([]byte, 120))))
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(used()-before)/float64(b.N), "RAM-B/record")
	})
}
