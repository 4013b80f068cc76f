package interceptor

import (
	_ "github.com/effectonce/effectonce/store/memory"
	_ "github.com/jackc/pgx/v5"
	_ "go.temporal.io/sdk/interceptor"
)
