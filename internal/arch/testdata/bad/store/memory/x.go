package memory

import (
	_ "github.com/effectonce/effectonce/store/sqlite"
	_ "github.com/effectonce/effectonce/store/storetest"
)
