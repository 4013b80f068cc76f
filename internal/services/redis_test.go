package services_test

import (
	"testing"

	driver "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/services"
)

func TestRedisGivesEachCallAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	for range 20 { // more than a server has by default
		options, err := driver.ParseURL(services.Redis(t))
		require.NoError(t, err)
		client := driver.NewClient(options)
		require.Zero(t, client.DBSize(t.Context()).Val())
		require.NoError(t, client.Set(t.Context(), "key", "value", 0).Err())
		require.NoError(t, client.Close())
	}
}
