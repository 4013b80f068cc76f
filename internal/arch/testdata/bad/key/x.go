package key

import (
	_ "github.com/effectonce/effectonce/canon"
	_ "github.com/effectonce/effectonce/store"
	_ "testing"
)
