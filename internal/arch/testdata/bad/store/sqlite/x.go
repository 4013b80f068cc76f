package sqlite

import (
	_ "github.com/effectonce/effectonce/store"
	_ "github.com/jackc/pgx/v5/pgxpool"
	_ "modernc.org/sqlite"
)
