package effectonce

import (
	_ "github.com/effectonce/effectonce/internal/glue"
)
