package nowhere

import (
	_ "strings"
)
