package canon

import (
	_ "github.com/google/uuid"
	_ "strings"
)
