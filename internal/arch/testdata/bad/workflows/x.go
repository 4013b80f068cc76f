package workflows

import (
	_ "github.com/effectonce/effectonce/activities"
)
