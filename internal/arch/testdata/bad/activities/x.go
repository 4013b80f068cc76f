package activities

import (
	_ "github.com/effectonce/effectonce/interceptor"
)
