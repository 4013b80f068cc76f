package store

import (
	_ "github.com/effectonce/effectonce/key"
)
